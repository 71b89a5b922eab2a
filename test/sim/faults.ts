// What goes wrong between a worker and what it stands on? Ports with the plan's faults, drawn from one stream; others stay as they are.
import type { Archive, Lines } from "../../ports/archive.ts";
import { type Clock, sleep } from "../../ports/clock.ts";
import type { Events } from "../../ports/events.ts";
import type { Parser } from "../../ports/parser.ts";
import type { Queue, QueueMessage } from "../../ports/queue.ts";
import { StoreError, type VersionedTable } from "../../ports/versioned-table.ts";
import type { Chance } from "./chance.ts";
import type { HeardOrders } from "./orders.ts";
import type { FaultPlan } from "./plan.ts";

export interface Weather {
  plan: FaultPlan;
  draw: Chance;
  clock: Clock;
  /** Faults happen only while this is so. */
  stormy(): boolean;
}

/** Share of calls that a fault of strength 1 hits; a handful of retries must still come through. */
const REFUSALS = 0.02;
const LOST_ANSWERS = 0.02;
const SLOW_CALLS = 0.05;
const SLOW_MS = 3_000;

/** Whether the fault comes now: `share` is that of the calls which one of strength 1 hits. */
export function hits({ plan, draw, stormy }: Weather, name: keyof FaultPlan, share: number): boolean {
  return plan[name] > 0 && stormy() && draw.flip(plan[name] * share);
}

function storeFails({ plan }: Weather): boolean {
  return plan["store-slow"] > 0 || plan["store-refuses"] > 0 || plan["store-loses-answers"] > 0;
}

async function trouble(weather: Weather): Promise<void> {
  if (hits(weather, "store-slow", SLOW_CALLS)) await sleep(weather.clock, weather.draw.whole(1, SLOW_MS));
  if (hits(weather, "store-refuses", REFUSALS)) throw new StoreError("refused, as the seed has it");
}

async function call<T>(weather: Weather, run: () => Promise<T>): Promise<T> {
  await trouble(weather);
  const result = await run();
  if (hits(weather, "store-loses-answers", LOST_ANSWERS))
    throw new StoreError("timed out after having written, as the seed has it");
  return result;
}

export function faultyTable(table: VersionedTable, weather: Weather): VersionedTable {
  if (!storeFails(weather)) return table;
  return {
    get: (keys) => call(weather, () => table.get(keys)),
    scan: (range) => call(weather, () => table.scan(range)),
    insertIfAbsent: (rows) => call(weather, () => table.insertIfAbsent(rows)),
    compareAndSet: (row, rev) => call(weather, () => table.compareAndSet(row, rev)),
    delete: (rows) => call(weather, () => table.delete(rows)),
    put: (rows) => call(weather, () => table.put(rows)),
    drop: (keys) => call(weather, () => table.drop(keys)),
  };
}

const LOST_REPORTS = 0.1;
const DOUBLED = 0.1;
const LATE = 0.1;
const LATE_MS = 20_000;

/** `mayLose`: the queue carries hints only. What was held by a worker that died comes again through release(). */
export function faultyQueue(queue: Queue, weather: Weather, mayLose: boolean): Queue {
  const { plan } = weather;
  if (!storeFails(weather) && plan["reports-lost"] === 0 && plan["messages-doubled"] === 0 && plan["messages-late"] === 0)
    return queue;
  const later = async (bodies: readonly Uint8Array[]): Promise<void> => {
    await sleep(weather.clock, weather.draw.whole(1, LATE_MS));
    await queue.publish(bodies);
  };
  return {
    async publish(bodies) {
      return call(weather, async () => {
        const sent: Uint8Array[] = [];
        for (const body of bodies) {
          if (mayLose && hits(weather, "reports-lost", LOST_REPORTS)) continue;
          // A late hint is published later; a message that has to be durable now is only doubled late.
          if (hits(weather, "messages-late", LATE)) {
            void later([body]);
            if (mayLose) continue;
          }
          sent.push(body);
          if (hits(weather, "messages-doubled", DOUBLED)) sent.push(body);
        }
        await queue.publish(sent);
      });
    },
    async pull(max) {
      const messages = await queue.pull(max);
      return plan["messages-late"] > 0 && weather.stormy() ? shuffled(messages, weather.draw) : messages;
    },
    acknowledge: (ids) => call(weather, () => queue.acknowledge(ids)),
    setAside: (ids) => call(weather, () => queue.setAside(ids)),
    release: (ids) => queue.release(ids),
    depth: () => queue.depth(),
    onArrival: (wake) => queue.onArrival(wake),
  };
}

function shuffled(messages: QueueMessage[], draw: Chance): QueueMessage[] {
  return messages
    .map((message) => ({ message, place: draw.next() }))
    .sort((a, b) => a.place - b.place)
    .map(({ message }) => message);
}

const FULL_EVERY_MS = 10 * 60_000;
const FULL_FOR_MS = 60_000;

/** The disk is full for a minute of every ten. */
function disk(weather: Weather): void {
  const full =
    weather.plan["disk-full"] > 0 &&
    weather.stormy() &&
    weather.clock.now() % FULL_EVERY_MS < FULL_FOR_MS * weather.plan["disk-full"];
  if (full) throw new StoreError("the disk is full, as the seed has it");
}

export function faultyArchive(archive: Archive, weather: Weather): Archive {
  if (weather.plan["disk-full"] === 0) return archive;
  return {
    async append(records) {
      disk(weather);
      return archive.append(records);
    },
    read: (at) => archive.read(at),
    close: () => archive.close(),
  };
}

export function faultyLines(lines: Lines, weather: Weather): Lines {
  if (weather.plan["disk-full"] === 0) return lines;
  return {
    async append(added) {
      disk(weather);
      return lines.append(added);
    },
    close: () => lines.close(),
  };
}

export function faultyEvents(events: Events, weather: Weather): Events {
  if (weather.plan["disk-full"] === 0) return events;
  return {
    async publish(kind, batch) {
      disk(weather);
      return events.publish(kind, batch);
    },
    close: () => events.close(),
  };
}

const BUSY = 0.2;
const STALLS = 0.02;
const STALL_MS = 10_000;
const MEMORY = 0.05;

export function faultyParser(parser: Parser, weather: Weather): Parser {
  const { plan } = weather;
  if (plan["parser-stalls"] === 0 && plan["parser-memory"] === 0) return parser;
  return {
    async parse(request) {
      if (hits(weather, "parser-stalls", BUSY)) return { ok: false, reason: "busy", detail: "as the seed has it" };
      if (hits(weather, "parser-stalls", STALLS)) {
        await sleep(weather.clock, STALL_MS);
        return { ok: false, reason: "timeout", detail: "as the seed has it" };
      }
      if (hits(weather, "parser-memory", MEMORY)) return { ok: false, reason: "memory", detail: "as the seed has it" };
      return parser.parse(request);
    },
    close: () => parser.close(),
  };
}

/** An operator's orders lie on a disk that may be slow, or cannot be read now. */
export function faultyOrders(orders: HeardOrders, weather: Weather): HeardOrders {
  const { plan } = weather;
  if (plan["store-slow"] === 0 && plan["store-refuses"] === 0) return orders;
  return {
    async read() {
      await trouble(weather);
      return orders.read();
    },
    async changed() {
      await trouble(weather);
      return orders.changed();
    },
  };
}
