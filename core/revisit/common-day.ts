// On which day are the pages of a small host visited? On days that they share, so that its robots.txt is asked for once and not for every page.
import { hash } from "node:crypto";
import { limits } from "../../schemas/limits.ts";

const DAY_MS = 86_400_000;

/** The common days of long intervals lie so far apart: those of shorter ones, each half as far, fall on the same days. */
const STEP_DAYS_MAX = 8;

/** A host's common day begins at an instant of its own and its pages have their turns after it: a visit so long after belongs to it. */
const TURNS_MS = 7_200_000;

export interface CommonDay {
  paceKey: string;
  /** Unix ms. */
  lastFetchAt: number;
  dueAt: number;
  /** Whether to look for the day before dueAt or after it: a change shortens and no change lengthens, also here. */
  toward: "earlier" | "later";
}

/**
 * Unix ms at the start of a common day of the host, by at most half the interval beside dueAt, or by less than a day. Not more than 30 days
 * after the last visit, unless dueAt is; not less than a day after the start of the common day on which that was. Which days are common
 * follows from the pace key alone.
 */
export function onCommonDay({ paceKey, lastFetchAt, dueAt, toward }: CommonDay): number {
  const digest = hash("sha256", `common day ${paceKey}`, "buffer");
  const instant = digest.readUInt32BE(0) % DAY_MS;
  const phase = instant + (digest.readUInt32BE(4) % STEP_DAYS_MAX) * DAY_MS;
  const visitDay = startAfter(lastFetchAt - TURNS_MS, instant, DAY_MS);
  const earliest = visitDay + limits.revisitMsMin;
  const latest = Math.max(dueAt, lastFetchAt + limits.revisitMsMax);
  const step = stepDays((dueAt - lastFetchAt) / DAY_MS) * DAY_MS;
  const after = startAfter(dueAt, phase, step);
  const start = toward === "later" || after === dueAt ? after : after - step;
  if (start < earliest) return startAfter(earliest, phase, step);
  return start > latest ? start - step : start;
}

/** The largest power of two within half the interval. */
function stepDays(intervalDays: number): number {
  let step = 1;
  while (step < STEP_DAYS_MAX && step * 4 <= intervalDays) step *= 2;
  return step;
}

/** The first start at or after `time`. */
function startAfter(time: number, phase: number, step: number): number {
  return phase + Math.ceil((time - phase) / step) * step;
}
