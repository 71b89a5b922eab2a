// How does a worker die? Its ports stop answering: nothing that it asks for from then on happens, and no timer of it fires.
import type { Archive, Lines } from "../../ports/archive.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Events } from "../../ports/events.ts";
import type { Http } from "../../ports/http.ts";
import type { Parser } from "../../ports/parser.ts";
import type { Queue } from "../../ports/queue.ts";
import type { VersionedTable } from "../../ports/versioned-table.ts";
import type { Effort } from "./effort.ts";

export interface Life {
  dead: boolean;
  /** Called when it dies, be it in the midst of a call. */
  died?: () => void;
  /** Port calls until it dies by itself; undefined: it does not. */
  callsLeft?: number;
  /** What all workers of a run may spend. */
  readonly effort: Effort;
}

/**
 * Whether this call comes too late, and one call less until it does. A death between a call's effect and its answer is the same as one
 * before the next call: what lies between changes nothing that others see. So calls are checked before, and never waited for.
 */
export function gone(life: Life): boolean {
  if (life.dead || !life.effort.spend()) return true;
  if (life.callsLeft !== undefined && --life.callsLeft <= 0) die(life);
  return life.dead;
}

export function die(life: Life): void {
  if (life.dead) return;
  life.dead = true;
  life.died?.();
}

/** A new one each time: what waits for it goes with it. */
export function never(): Promise<never> {
  return new Promise(() => {});
}

export function mortalTable(table: VersionedTable, life: Life): VersionedTable {
  return {
    get: (keys) => (gone(life) ? never() : table.get(keys)),
    scan: (range) => (gone(life) ? never() : table.scan(range)),
    insertIfAbsent: (rows) => (gone(life) ? never() : table.insertIfAbsent(rows)),
    compareAndSet: (row, rev) => (gone(life) ? never() : table.compareAndSet(row, rev)),
    delete: (rows) => (gone(life) ? never() : table.delete(rows)),
    put: (rows) => (gone(life) ? never() : table.put(rows)),
    drop: (keys) => (gone(life) ? never() : table.drop(keys)),
  };
}

/** `listens` is given what ends the worker's listening: a dead one need not be told of arrivals. */
export function mortalQueue(queue: Queue, life: Life, listens: (end: () => void) => void): Queue {
  return {
    publish: (bodies) => (gone(life) ? never() : queue.publish(bodies)),
    pull: (max) => (gone(life) ? never() : queue.pull(max)),
    acknowledge: (ids) => (gone(life) ? never() : queue.acknowledge(ids)),
    setAside: (ids) => (gone(life) ? never() : queue.setAside(ids)),
    release: (ids) => (gone(life) ? never() : queue.release(ids)),
    depth: () => (gone(life) ? never() : queue.depth()),
    onArrival(wake) {
      const end = queue.onArrival(wake);
      listens(end);
      return end;
    },
  };
}

export function mortalArchive(archive: Archive, life: Life): Archive {
  return {
    append: (records) => (gone(life) ? never() : archive.append(records)),
    read: (at) => (gone(life) ? never() : archive.read(at)),
    close: () => archive.close(),
  };
}

export function mortalLines(lines: Lines, life: Life): Lines {
  return { append: (added) => (gone(life) ? never() : lines.append(added)), close: () => lines.close() };
}

export function mortalEvents(events: Events, life: Life): Events {
  return { publish: (kind, batch) => (gone(life) ? never() : events.publish(kind, batch)), close: () => events.close() };
}

export function mortalParser(parser: Parser, life: Life): Parser {
  return { parse: (request) => (gone(life) ? never() : parser.parse(request)), close: () => parser.close() };
}

/** What follows the connection, simHttp checks itself. */
export function mortalHttp(http: Http, life: Life): Http {
  return { connect: (url, limits) => (gone(life) ? never() : http.connect(url, limits)), close: () => http.close() };
}

export function mortalClock(clock: Clock, life: Life, offsetMs: number): Clock {
  return {
    now: offsetMs === 0 ? clock.now : () => clock.now() + offsetMs,
    after: (delayMs, run) =>
      clock.after(delayMs, () => {
        if (!life.dead) run();
      }),
  };
}
