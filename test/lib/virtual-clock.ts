// How do tests wait for hours in milliseconds? A clock that stands still until it is told how far to run.
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../ports/clock.ts";

export interface VirtualClock extends Clock {
  /**
   * Carries out what is due until `untilMs` (Unix ms), in order of time, what is due at one time in the order it was asked for; before
   * each step and at the end all promises run as far as they can. Then it is `untilMs`. Never go on with real I/O under it.
   */
  run(untilMs: number): Promise<void>;
  /** When the next step is due, or undefined when nothing waits. */
  nextAt(): number | undefined;
}

interface Waiting {
  at: number;
  order: number;
  run: () => void;
  calledOff: boolean;
}

export function virtualClock(startMs: number): VirtualClock {
  let now = startMs;
  let orders = 0;
  const heap: Waiting[] = [];

  /** The earliest that still stands. */
  function first(): Waiting | undefined {
    while (heap[0]?.calledOff) pop(heap);
    return heap[0];
  }

  return {
    now: () => now,
    after(delayMs, run) {
      const waiting: Waiting = { at: Math.ceil(now + Math.max(0, delayMs)), order: orders++, run, calledOff: false };
      push(heap, waiting);
      return () => {
        waiting.calledOff = true;
      };
    },
    async run(untilMs) {
      for (;;) {
        // A turn of the event loop comes only after the last promise has run.
        await setImmediate();
        const next = first();
        if (next === undefined || next.at > untilMs) break;
        pop(heap);
        now = Math.max(now, next.at);
        next.run();
      }
      now = Math.max(now, untilMs);
    },
    nextAt: () => first()?.at,
  };
}

function earlier(one: Waiting, other: Waiting): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}

function push(heap: Waiting[], item: Waiting): void {
  let place = heap.length;
  while (place > 0) {
    const parent = (place - 1) >> 1;
    if (!earlier(item, heap[parent]!)) break;
    heap[place] = heap[parent]!;
    place = parent;
  }
  heap[place] = item;
}

function pop(heap: Waiting[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let place = 0;
  for (;;) {
    let child = place * 2 + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && earlier(heap[child + 1]!, heap[child]!)) child++;
    if (!earlier(heap[child]!, last)) break;
    heap[place] = heap[child]!;
    place = child;
  }
  heap[place] = last;
}
