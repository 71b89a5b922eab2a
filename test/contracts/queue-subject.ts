// How is a law of queues said of one that answers at once, and of one that answers within a bounded time?
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Queue, QueueMessage } from "../../ports/queue.ts";

/** How long it may take until what must hold does, and how long nothing must come for it to be said that nothing comes. */
export interface Bounds {
  withinMs: number;
  quietMs: number;
}

export const ALL = 10_000; // more than any test publishes
const ASK_EVERY_MS = 5;

/** A queue and what is said of it. */
export interface Subject {
  queue: Queue;
  /** What comes of pulling up to `max` until `count` have come: once, where the queue answers at once. */
  pull(max: number, count: number): Promise<QueueMessage[]>;
  /** The same of several pulls at a time. */
  pullSideBySide(pulls: number, each: number, count: number): Promise<QueueMessage[]>;
  pullsNone(): Promise<void>;
  /** Fails where it does not hold: now, or within the time. */
  holds(what: () => boolean | Promise<boolean>, told: string): Promise<void>;
  depthIs(depth: number): Promise<void>;
}

export function atOnce(queue: Queue): Subject {
  return {
    queue,
    pull: (max) => queue.pull(max),
    pullSideBySide: async (pulls, each) => (await Promise.all(Array.from({ length: pulls }, () => queue.pull(each)))).flat(),
    pullsNone: async () => assert.deepEqual(await queue.pull(ALL), []),
    holds: async (what, told) => assert.ok(await what(), told),
    depthIs: async (depth) => assert.equal(await queue.depth(), depth),
  };
}

export function inTime(queue: Queue, { withinMs, quietMs }: Bounds): Subject {
  const collect = async (count: number, ms: number, ask: (had: number) => Promise<QueueMessage[]>): Promise<QueueMessage[]> => {
    const until = Date.now() + ms;
    const messages: QueueMessage[] = [];
    for (let first = true; first || (messages.length < count && Date.now() < until); first = false) {
      if (!first) await pause(ASK_EVERY_MS);
      messages.push(...(await ask(messages.length)));
    }
    return messages;
  };
  const holds: Subject["holds"] = async (what, told) => {
    const until = Date.now() + withinMs;
    while (!(await what()) && Date.now() < until) await pause(ASK_EVERY_MS);
    assert.ok(await what(), `${told}, not within ${withinMs} ms`);
  };
  return {
    queue,
    holds,
    pull: (max, count) => collect(count, withinMs, (had) => queue.pull(max - had)),
    pullSideBySide: (pulls, each, count) =>
      collect(count, withinMs, async () => (await Promise.all(Array.from({ length: pulls }, () => queue.pull(each)))).flat()),
    pullsNone: async () => assert.deepEqual(await collect(1, quietMs, () => queue.pull(ALL)), []),
    depthIs: (depth) => holds(async () => (await queue.depth()) === depth, `a depth of ${depth}`),
  };
}
