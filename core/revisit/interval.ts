// When is a page worth another look? When it has changed as likely as not; a change shortens the interval, no change lengthens it, within 1 to 30 days.
import { limits } from "../../schemas/limits.ts";
import { changeRate, type Visit } from "./change-rate.ts";

/**
 * The interval in ms that a page's visits want, newest last: the time in which it changes with probability 1/2, at the rate that they show.
 * After a visit that found a change it is no longer than the one that the visit ended, after one that found none no shorter.
 */
export function nextInterval(history: readonly Visit[] | undefined): number {
  const last = history?.at(-1);
  if (history === undefined || last === undefined) return limits.revisitMsFirst;
  const useful = Math.round((Math.LN2 / changeRate(history)) * DAY_MS);
  const interval = last.changed ? Math.min(useful, last.afterMs) : Math.max(useful, last.afterMs);
  return Math.min(limits.revisitMsMax, Math.max(limits.revisitMsMin, interval));
}

const DAY_MS = 86_400_000;
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

export const tiers = ["A", "B", "C", "D"] as const;
export type Tier = (typeof tiers)[number];

/** The longest interval of each tier, days: A daily or nearly, B weekly, C fortnightly, D monthly. */
const TIER_DAYS: readonly [Tier, number][] = [
  ["A", 2],
  ["B", 7],
  ["C", 15],
];

/** How fresh a page is to be kept, by the interval that its visits want (nextInterval). */
export function tierOf(intervalMs: number): Tier {
  return TIER_DAYS.find(([, days]) => intervalMs <= days * DAY_MS)?.[0] ?? "D";
}
