// Which day does a command work on? The one that is named, or yesterday: the last that is over, in UTC.
import { UsageError } from "../usage-error.ts";

const DAY_MS = 86_400_000;

/** YYYY-MM-DD. `now`: Unix ms. Throws UsageError, which names the flag. */
export function utcDay(flag: string, given: string | undefined, now: number): string {
  if (given === undefined) return dayOf(now - DAY_MS);
  if (/^\d{4}-\d\d-\d\d$/.test(given) && dayStart(given) >= 0 && dayOf(dayStart(given)) === given) return given;
  throw new UsageError(`${flag} ${JSON.stringify(given)} is no day such as 2026-01-31`);
}

/** Unix ms; NaN for what is no day. */
function dayStart(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** Unix ms of the day's end, which is the next one's beginning. */
export function dayEnd(day: string): number {
  return dayStart(day) + DAY_MS;
}

export function dayBefore(day: string): string {
  return dayOf(dayStart(day) - DAY_MS);
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
