// What goes wrong between a worker and what it stands on? Ports and DoFns with the plan's faults, drawn from one stream.
import type { StateCell } from "../../beam/dofn.ts";
import type { AnyDefinition } from "../../beam/pardo.ts";
import type { FrontierState } from "../../core/frontier/state.ts";
import type { Archive, Lines } from "../../ports/archive.ts";
import { type Clock, sleep } from "../../ports/clock.ts";
import type { Events } from "../../ports/events.ts";
import type { Parser } from "../../ports/parser.ts";
import type { Queue, QueueMessage } from "../../ports/queue.ts";
import { StoreError, type VersionedTable } from "../../ports/versioned-table.ts";
import type { Chance } from "./chance.ts";
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

function hits({ plan, draw, stormy }: Weather, name: keyof FaultPlan, share: number): boolean {
  return plan[name] > 0 && stormy() && draw.flip(plan[name] * share);
}

async function call<T>(weather: Weather, run: () => Promise<T>): Promise<T> {
  if (hits(weather, "store-slow", SLOW_CALLS)) await sleep(weather.clock, weather.draw.whole(1, SLOW_MS));
  if (hits(weather, "store-refuses", REFUSALS)) throw new StoreError("refused, as the seed has it");
  const result = await run();
  if (hits(weather, "store-loses-answers", LOST_ANSWERS))
    throw new StoreError("timed out after having written, as the seed has it");
  return result;
}

export function faultyTable(table: VersionedTable, weather: Weather): VersionedTable {
  return {
    get: (keys) => call(weather, () => table.get(keys)),
    scan: (range) => call(weather, () => table.scan(range)),
    insertIfAbsent: (rows) => call(weather, () => table.insertIfAbsent(rows)),
    compareAndSet: (row, rev) => call(weather, () => table.compareAndSet(row, rev)),
    delete: (rows) => call(weather, () => table.delete(rows)),
  };
}

const LOST_REPORTS = 0.1;
const DOUBLED = 0.1;
const LATE = 0.1;
const LATE_MS = 20_000;

/** `mayLose`: the queue carries hints only. What was held by a worker that died comes again through release(). */
export function faultyQueue(queue: Queue, weather: Weather, mayLose: boolean): Queue {
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
      return weather.plan["messages-late"] > 0 && weather.stormy() ? shuffled(messages, weather.draw) : messages;
    },
    acknowledge: (ids) => call(weather, () => queue.acknowledge(ids)),
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
  return {
    async append(added) {
      disk(weather);
      return lines.append(added);
    },
    close: () => lines.close(),
  };
}

export function faultyEvents(events: Events, weather: Weather): Events {
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

export function faultyParser(parser: Parser, weather: Weather): Parser {
  return {
    async parse(request) {
      if (hits(weather, "parser-stalls", BUSY)) return { ok: false, reason: "busy", detail: "as the seed has it" };
      if (hits(weather, "parser-stalls", STALLS)) {
        await sleep(weather.clock, STALL_MS);
        return { ok: false, reason: "timeout", detail: "as the seed has it" };
      }
      return parser.parse(request);
    },
    close: () => parser.close(),
  };
}

const TWICE = 0.05;
const EARLY = 0.2;
const EARLY_MS = 50;
const TIMER_LATE_MS = 30_000;

/** As the engine calls it, whatever its form. */
interface LooseDoFn {
  setup?(): unknown;
  startBundle?(): unknown;
  process(element: unknown, context: LooseContext): unknown;
  onTimer?(family: string, context: LooseContext): unknown;
  finishBundle?(context: LooseContext): unknown;
  teardown?(): unknown;
}

interface LooseContext {
  key?: string;
  emit(output: string, value: unknown): void;
  afterCommit(run: () => void | Promise<void>): void;
  state?(cell: string): StateCell<unknown>;
  setTimer?(family: string, at: number): void;
  clearTimer?(family: string): void;
}

/** The engine's own faults: bundles that fail at their very end and run again, timers early, late and twice. */
export function faultyDefinition(
  definition: AnyDefinition,
  weather: Weather,
  seeFrontier: (state: FrontierState) => void,
): AnyDefinition {
  if (definition.form === "source") return definition;
  const make = (config: unknown, services: unknown): LooseDoFn => {
    const doFn = definition.make(config, services) as unknown as LooseDoFn;
    return {
      setup: () => doFn.setup?.(),
      startBundle: () => doFn.startBundle?.(),
      process: (element, context) => doFn.process(element, withFaultyTimers(context, weather, seeFrontier)),
      async onTimer(family, context) {
        const faulty = withFaultyTimers(context, weather, seeFrontier);
        await doFn.onTimer?.(family, faulty);
        if (hits(weather, "timers-twice", TWICE)) await doFn.onTimer?.(family, faulty);
      },
      async finishBundle(context) {
        await doFn.finishBundle?.(context);
        if (hits(weather, "bundles-twice", TWICE)) throw new Error("the bundle runs again, as the seed has it");
      },
      teardown: () => doFn.teardown?.(),
    };
  };
  return { ...definition, make } as unknown as AnyDefinition;
}

function withFaultyTimers(context: LooseContext, weather: Weather, seeFrontier: (state: FrontierState) => void): LooseContext {
  if (context.setTimer === undefined) return context;
  return {
    key: context.key!,
    emit: (output, value) => context.emit(output, value),
    afterCommit: (run) => context.afterCommit(run),
    state: (name) => {
      const cell = context.state!(name);
      return {
        get: () => cell.get(),
        clear: () => cell.clear(),
        set(value) {
          seeFrontier(value as FrontierState);
          cell.set(value);
        },
      };
    },
    clearTimer: (family) => context.clearTimer!(family),
    setTimer(family, at) {
      const early = hits(weather, "timers-early", EARLY) ? weather.draw.whole(1, EARLY_MS) : 0;
      const late = hits(weather, "timers-late", TWICE) ? weather.draw.whole(1, TIMER_LATE_MS) : 0;
      context.setTimer!(family, at - early + late);
    },
  };
}
