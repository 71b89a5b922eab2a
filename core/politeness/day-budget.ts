// May a host be asked for more today? Pages and bytes of the current UTC day, so that a large allowance is spread over the days.
import type { UnfetchedReason } from "../../schemas/reasons.ts";

/** What a host has given on one day. Absent in a record: nothing yet. */
export interface DaySpent {
  /** Days since 1970-01-01, UTC. */
  day: number;
  /** Requests for pages and sitemaps admitted. */
  pages: number;
  /** Body bytes as they came over the wire. */
  bytes: number;
}

export interface DayBudget {
  pagesPerDay: number;
  bytesPerDay: number;
}

export interface DayRefusal {
  reason: Extract<UnfetchedReason, "host-day-pages" | "host-day-bytes">;
  /** Unix ms when the next day begins. */
  until: number;
}

const DAY_MS = 86_400_000;

/**
 * Why no page may be asked for now, or undefined. Bytes are known when they have come, so a day ends with at most the answers under
 * way beyond its budget. robots.txt is no page: it may always be asked for.
 */
export function dayBudgetRefusal(spent: DaySpent | undefined, budget: DayBudget, now: number): DayRefusal | undefined {
  const today = dayBudgetSpent(spent, now);
  const until = (today.day + 1) * DAY_MS;
  if (today.pages >= budget.pagesPerDay) return { reason: "host-day-pages", until };
  if (today.bytes >= budget.bytesPerDay) return { reason: "host-day-bytes", until };
  return undefined;
}

/** What is spent of the day of `now`. A clock that is behind the record's does not bring yesterday back. */
export function dayBudgetSpent(spent: DaySpent | undefined, now: number): DaySpent {
  const day = Math.floor(now / DAY_MS);
  return spent === undefined || spent.day < day ? { day, pages: 0, bytes: 0 } : spent;
}

/** Pages that may still be asked for today: none once the bytes are spent. */
export function dayBudgetLeft(spent: DaySpent | undefined, budget: DayBudget, now: number): number {
  const today = dayBudgetSpent(spent, now);
  return today.bytes >= budget.bytesPerDay ? 0 : Math.max(0, budget.pagesPerDay - today.pages);
}

/** After an admit; `pages` is 0 for robots.txt. */
export function dayBudgetAdmitted(spent: DaySpent | undefined, pages: number, now: number): DaySpent {
  const today = dayBudgetSpent(spent, now);
  return { ...today, pages: today.pages + pages };
}

/** After a request that never left: a page is given back to the day it was booked on, and only while that day lasts. */
export function dayBudgetUndone(spent: DaySpent | undefined, pages: number, admittedAt: number): DaySpent | undefined {
  if (spent === undefined || spent.day !== Math.floor(admittedAt / DAY_MS)) return spent;
  return { ...spent, pages: Math.max(0, spent.pages - pages) };
}

/** After an answer: its bytes belong to the day on which they came. */
export function dayBudgetReleased(spent: DaySpent | undefined, bytes: number, endedAt: number): DaySpent {
  const today = dayBudgetSpent(spent, endedAt);
  return { ...today, bytes: today.bytes + bytes };
}
