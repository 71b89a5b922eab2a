// How long is a call of Cloud Storage waited for, and how often made again? Until an answer can still come in the 60 s of the design.
import { type Clock, sleep } from "../../../ports/clock.ts";
import type { Random } from "../../../ports/random.ts";
import { heals, lateError } from "./faults.ts";

export interface Patience {
  clock: Clock;
  random: Random;
}

/** No try begins later than this after the first: with the last one's own time, what is discovered is durable or refused within 60 s. */
const PATIENCE_MS = 40_000;
/** Google's advice is an exponential back-off with jitter from 1 s; a group commit that others wait for begins sooner. */
const WAIT_MS_FIRST = 250;
const WAIT_MS_MAX = 8_000;

/**
 * The attempt's result; made again where its failure may heal. Only for what may be done twice. We count here and not in the client,
 * whose switch for retries is one field that all its calls under way share and reset. `bytes`: how many a try moves, where that may
 * take longer than those 60 s.
 */
export async function patiently<T>({ clock, random }: Patience, attempt: () => Promise<T>, bytes = 0): Promise<T> {
  const patienceMs = PATIENCE_MS + bytes * MS_PER_BYTE;
  const began = clock.now();
  for (let waitMs = WAIT_MS_FIRST; ; waitMs = Math.min(waitMs * 2, WAIT_MS_MAX)) {
    try {
      return await attempt();
    } catch (error) {
      const jittered = waitMs * (0.5 + random.next() / 2);
      if (!heals(error) || clock.now() + jittered - began >= patienceMs) throw error;
      await sleep(clock, jittered);
    }
  }
}

/** From the first byte sent to the answer; what moves bytes has a second more for each MiB, a slow link's pace. */
const CALL_MS = 10_000;
const MS_PER_BYTE = 1000 / (1024 * 1024);

/**
 * The work's result, or a rejection when its time is over; then `giveUp` is called and what becomes of the work is nobody's concern. The
 * client's own `timeout` ends nothing: node-fetch 3 below it knows none.
 */
export async function inTime<T>(clock: Clock, bytes: number, work: Promise<T>, giveUp = () => {}): Promise<T> {
  const limitMs = Math.round(CALL_MS + bytes * MS_PER_BYTE);
  let callOff = () => {};
  const late = new Promise<never>((_, reject) => {
    callOff = clock.after(limitMs, () => {
      reject(lateError(limitMs));
      giveUp();
    });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    callOff();
    work.catch(() => {});
  }
}
