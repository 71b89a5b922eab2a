// How many revisits may a host be asked for on one day? What its clock and its budgets allow, less a share for pages that were never fetched.
import type { PacePolicy } from "../politeness/policy.ts";

export interface HostAllowance extends Pick<PacePolicy, "concurrency" | "latencyFactor" | "dayBudget"> {
  /** The gap that it is owed (gapMs), its Crawl-delay included. */
  delayMs: number;
  latencyMs: number;
  /** Mean body; 0: not known. */
  bodyBytes: number;
  /** Pages that wait for their first fetch. */
  undiscovered: number;
}

const DAY_MS = 86_400_000;

/** Of a host's fetches at most, where so many new pages wait: those that are known go stale meanwhile. */
const DISCOVERY_SHARE = 0.5;

/** Visits in one UTC day, a whole number; finite, since its pages of a day are. */
export function revisitsPerDay(host: HostAllowance): number {
  const { pagesPerDay, bytesPerDay } = host.dayBudget;
  const byBytes = host.bodyBytes > 0 ? bytesPerDay / host.bodyBytes : pagesPerDay;
  const fetches = Math.floor(Math.min(DAY_MS / cycleMs(host), pagesPerDay, byBytes));
  return fetches - Math.min(host.undiscovered, Math.floor(fetches * DISCOVERY_SHARE));
}

/** From one start to the next, as the host's clock has it (host-clock.ts), with bodies that take no time. */
function cycleMs({ delayMs, latencyMs, concurrency, latencyFactor }: HostAllowance): number {
  if (concurrency > 1) return Math.max(delayMs, latencyMs / concurrency);
  return latencyMs + (delayMs === 0 ? 0 : Math.max(delayMs, latencyFactor * latencyMs));
}
