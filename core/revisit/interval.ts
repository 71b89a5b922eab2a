// When is a page worth another look? A change shortens the interval, no change lengthens it, within 1 to 30 days.
import { limits } from "../../schemas/limits.ts";

const SHORTER = 0.5; // after a change
const LONGER = 1.5; // after none

/** The interval in ms after a visit that came `afterMs` after the one before; undefined: it was the first. */
export function nextInterval(afterMs: number | undefined, changed: boolean): number {
  if (afterMs === undefined) return limits.revisitMsFirst;
  const interval = Math.round(afterMs * (changed ? SHORTER : LONGER));
  return Math.min(limits.revisitMsMax, Math.max(limits.revisitMsMin, interval));
}

export interface Visit {
  afterMs: number;
  changed: boolean;
}

const HOUR_MS = 3_600_000;

/** The history with one visit more, in whole hours, as records keep it; the oldest goes where it is full. */
export function remembered(history: readonly Visit[] | undefined, { afterMs, changed }: Visit): Visit[] {
  const visit = { afterMs: Math.round(afterMs / HOUR_MS) * HOUR_MS, changed };
  return [...(history ?? []), visit].slice(-limits.changeHistory);
}

/** Wait before a failed URL is tried again, ms: doubles with each failure. */
export function retryWait(failures: number): number {
  return limits.retryMs * 2 ** Math.max(0, failures - 1);
}
