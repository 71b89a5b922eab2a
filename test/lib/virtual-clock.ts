// How do tests wait for hours in milliseconds? A clock that stands still until it is told how far to run.
import type { Clock } from "../../ports/clock.ts";

export interface VirtualClock extends Clock {
  /**
   * Carries out what is due until `untilMs` (Unix ms), in order of time, what is due at one time in the order it was asked for; before
   * each step and at the end all promises run as far as they can. Then it is `untilMs`. Never go on with real I/O under it. Rejects
   * with what a step throws, and with Halted.
   */
  run(untilMs: number): Promise<void>;
  /** When the next step is due, or undefined when nothing waits. */
  nextAt(): number | undefined;
  /** No further step is carried out: this run, and every later one, rejects with Halted. */
  halt(why: string): void;
}

/** The clock was halted, or too much happened while it stood still. */
export class Halted extends Error {}

export interface VirtualClockOptions {
  /** Steps at one time; who needs more goes round in circles. */
  stepsAtOnceMax?: number;
}

interface Waiting {
  at: number;
  order: number;
  run: () => void;
  calledOff: boolean;
}

/** Steps between two turns of the event loop, which is how signals are heard. */
const STEPS_A_TURN = 1024;

const DONE = Promise.resolve();

export function virtualClock(
  startMs: number,
  { stepsAtOnceMax = Number.POSITIVE_INFINITY }: VirtualClockOptions = {},
): VirtualClock {
  let now = startMs;
  let orders = 0;
  let halted: Halted | undefined;
  let stepsAtOnce = 0;
  const heap: Waiting[] = [];

  /** The earliest that still stands. */
  function first(): Waiting | undefined {
    while (heap[0]?.calledOff) pop(heap);
    return heap[0];
  }

  /** False when nothing is left to do until then. */
  function step(untilMs: number): boolean {
    if (halted !== undefined) throw halted;
    const next = first();
    if (next === undefined || next.at > untilMs) return false;
    if (next.at > now) stepsAtOnce = 0;
    if (++stepsAtOnce > stepsAtOnceMax) throw new Halted(`time stands still at ${now}: more than ${stepsAtOnceMax} steps`);
    pop(heap);
    now = Math.max(now, next.at);
    next.run();
    return true;
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
      await stepwise(() => step(untilMs));
      now = Math.max(now, untilMs);
    },
    nextAt: () => first()?.at,
    halt(why) {
      halted ??= new Halted(why);
    },
  };
}

/**
 * Calls `step` until it gives false, each time after the last promise has run. A turn of the event loop comes then, and so does a tick
 * that a promise asked for: node carries out ticks when no promise is left to run, at a fraction of a turn's cost.
 */
function stepwise(step: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let left = STEPS_A_TURN;
    const askForTick = (): void => process.nextTick(tick);
    const tick = (): void => {
      try {
        if (!step()) return resolve();
      } catch (error) {
        return reject(error);
      }
      if (--left > 0) return void DONE.then(askForTick);
      left = STEPS_A_TURN;
      setImmediate(tick);
    };
    setImmediate(tick);
  });
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
