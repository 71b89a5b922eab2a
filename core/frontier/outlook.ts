// When can something happen at this host, and what is it waiting for? The same answer for idleness, for the report and for `explain`.
import type { HostState } from "../../schemas/host-state.ts";
import { limits } from "../../schemas/limits.ts";
import { dayBudgetRefusal } from "../politeness/day-budget.ts";
import { allowedAt, withoutExpired } from "../politeness/host-clock.ts";
import type { PacePolicy } from "../politeness/policy.ts";
import type { RobotsJudgement } from "../robots/judge.ts";

export interface PendingUrl {
  url: string;
  dueAt: number;
  failureCount: number;
  robots: RobotsJudgement;
}

export type WaitReason =
  | "turn" // only the host's clock
  | "retry" // a URL that failed waits for its time
  | "backoff"
  | "unheard" // a request whose answer was never heard is still booked
  | "robots-unreachable"
  | "robots-deferred"
  | "paused"
  | "moved"
  | "page-limit"
  | "day-budget";

export type HostOutlook =
  /** No first fetch or retry is pending; revisits do not count. */
  | { kind: "idle" }
  /** The earliest time (Unix ms) at which a first fetch or retry can start, and what it waits for until then. */
  | { kind: "pending"; at: number; reason: WaitReason; url: string };

const DAY_MS = 86_400_000;

/** `pending`: some of the host's first fetches and retries, earliest first. */
export function hostOutlook(record: HostState, policy: PacePolicy, pending: readonly PendingUrl[], now: number): HostOutlook {
  const host = withoutExpired(record, now);
  const gate = hostGate(host, policy, now);
  let best: Extract<HostOutlook, { kind: "pending" }> | undefined;
  for (const entry of pending) {
    const own = urlGate(entry);
    const { at, reason } = own.at > gate.at ? own : gate;
    const told = reason === "backoff" && closedByRobots(own) && own.at > now ? own.reason : reason;
    if (best === undefined || at < best.at) best = { kind: "pending", at, reason: told, url: entry.url };
  }
  return best ?? { kind: "idle" };
}

interface Gate {
  at: number;
  reason: WaitReason;
}

function hostGate(host: HostState, policy: PacePolicy, now: number): Gate {
  if (host.movedTo !== undefined) return { at: now + DAY_MS, reason: "moved" };
  if (policy.paused) return { at: now + DAY_MS, reason: "paused" };
  if (host.pausedUntil !== undefined && host.pausedUntil > now) return { at: host.pausedUntil, reason: "paused" };
  if (host.pages >= policy.pagesMax) return { at: now + DAY_MS, reason: "page-limit" };
  const spent = dayBudgetRefusal(host.day, policy.dayBudget, now);
  if (spent !== undefined) return { at: spent.until, reason: "day-budget" };
  const at = allowedAt(host, policy);
  if (host.inFlight.length >= policy.concurrency) {
    const free = Math.min(...host.inFlight.map((flight) => flight.expiresAt)) + limits.backoffMs;
    if (free > at) return { at: free, reason: "unheard" };
  }
  return { at, reason: host.backoffUntil >= at && host.backoffUntil > now ? "backoff" : "turn" };
}

/** Says more than the back-off that a failing robots.txt brings with it, whichever of the two lasts longer. */
function closedByRobots({ reason }: Gate): boolean {
  return reason === "robots-unreachable" || reason === "robots-deferred";
}

function urlGate({ dueAt, failureCount, robots }: PendingUrl): Gate {
  if (robots.verdict === "unreachable" && robots.reason !== "address")
    return { at: Math.max(dueAt, robots.until), reason: "robots-unreachable" };
  if (robots.verdict === "deferred") return { at: Math.max(dueAt, robots.until), reason: "robots-deferred" };
  return { at: dueAt, reason: failureCount > 0 ? "retry" : "turn" };
}
