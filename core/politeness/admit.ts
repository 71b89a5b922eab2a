// May this execution send its request now? Judged from the host record's facts at the moment of the conditional write.
import type { Flight, HostState, LeaseKind } from "../../schemas/host-state.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import { limits } from "../../schemas/limits.ts";
import type { SettledOutcome, UnfetchedReason } from "../../schemas/reasons.ts";
import type { RobotsJudgement } from "../robots/judge.ts";
import { dayBudgetAdmitted, dayBudgetRefusal } from "./day-budget.ts";
import { allowedAt, gapMs, withoutExpired } from "./host-clock.ts";
import type { PacePolicy } from "./policy.ts";

export interface AdmitRequest {
  lease: FetchLease;
  /** Where the request goes: the lease's own host key, or for a robots hop the target's. */
  hostKey: string;
  /** Drawn by this execution, never taken from the lease. */
  token: string;
  /** The connection that would be used goes to an address that only --allow-address admits. */
  viaAllowed: boolean;
  /** The verdict on the URL now; robots leases need none. */
  robots: RobotsJudgement | undefined;
  /** A policy about the URL forbids it for now. */
  withheld?: Extract<SettledOutcome, "excluded" | "held"> | undefined;
}

export type Admission =
  | { kind: "admitted"; host: HostState; flight: Flight }
  /** No request now. `until`: when asking again may help. */
  | { kind: "refused"; reason: UnfetchedReason; until?: number }
  /** No request at all: the URL completes for this reason. */
  | { kind: "settled"; outcome: SettledOutcome | "poisoned" };

/** `skewMs` is ε: times are written as now + ε and compared as now − ε; 0 within one process. */
export function admit(record: HostState, request: AdmitRequest, policy: PacePolicy, now: number, skewMs = 0): Admission {
  const host = withoutExpired(record, now, skewMs);
  const mine = host.inFlight.find((flight) => flight.token === request.token);
  if (mine !== undefined) return { kind: "admitted", host, flight: mine }; // our own write, whose answer was lost
  return (
    refusedByOwner(host, request, policy, now) ??
    withheldByPolicy(request) ??
    refusedByRobots(host, request) ??
    refusedByBudget(host, request, policy, now) ??
    refusedByTries(host, request) ??
    refusedByClock(host, policy, now, skewMs) ??
    booked(host, request, policy, now + skewMs)
  );
}

/** Who owns the host, and is this lease one of its? */
function refusedByOwner(host: HostState, request: AdmitRequest, policy: PacePolicy, now: number): Admission | undefined {
  const { lease } = request;
  if (host.movedTo !== undefined) return { kind: "refused", reason: "moved" };
  if (lease.epoch < host.epoch) return { kind: "refused", reason: "epoch" };
  if (policy.paused) return { kind: "refused", reason: "paused" };
  if (host.pausedUntil !== undefined && host.pausedUntil > now)
    return { kind: "refused", reason: "paused", until: host.pausedUntil };
  const twin = host.inFlight.find((flight) => flight.leaseId === lease.leaseId || flight.urlId === lease.urlId);
  if (twin !== undefined) return { kind: "refused", reason: "duplicate", until: twin.expiresAt };
  return undefined;
}

/** After what settles a URL without a request, which costs the host nothing: refused, it would come back for ever. */
function refusedByBudget(host: HostState, { lease }: AdmitRequest, policy: PacePolicy, now: number): Admission | undefined {
  if (lease.kind === "robots") return undefined;
  if (host.pages >= policy.pagesMax) return { kind: "refused", reason: "host-page-limit" };
  const spent = dayBudgetRefusal(host.day, policy.dayBudget, now);
  return spent === undefined ? undefined : { kind: "refused", ...spent };
}

function withheldByPolicy({ lease, withheld }: AdmitRequest): Admission | undefined {
  return lease.kind === "robots" || withheld === undefined ? undefined : { kind: "settled", outcome: withheld };
}

function refusedByRobots(host: HostState, request: AdmitRequest): Admission | undefined {
  if (request.lease.kind === "robots") return undefined;
  const pending = host.inFlight.find((flight) => flight.kind === "robots" && flight.hostKey === request.hostKey);
  if (pending !== undefined) return { kind: "refused", reason: "robots-pending", until: pending.expiresAt };
  const judgement = request.robots;
  switch (judgement?.verdict) {
    case "allow":
      return undefined;
    case "disallow":
      return { kind: "settled", outcome: "robots" };
    case "unreachable":
      if (judgement.reason === "address") return { kind: "settled", outcome: "address" };
      return { kind: "refused", reason: "robots-missing", until: judgement.until };
    case "deferred":
      return { kind: "refused", reason: "robots-missing", until: judgement.until };
    default:
      return { kind: "refused", reason: "robots-missing" };
  }
}

function refusedByTries(host: HostState, { lease }: AdmitRequest): Admission | undefined {
  if (lease.kind === "robots") return undefined;
  const known = host.recent.find((entry) => entry.urlId === lease.urlId && entry.version === lease.version);
  return known !== undefined && known.tries >= limits.triesPerVersion ? { kind: "settled", outcome: "poisoned" } : undefined;
}

function refusedByClock(host: HostState, policy: PacePolicy, now: number, skewMs: number): Admission | undefined {
  if (host.backoffUntil > now - skewMs) return { kind: "refused", reason: "backoff", until: host.backoffUntil + skewMs };
  if (host.inFlight.length >= policy.concurrency) {
    return { kind: "refused", reason: "concurrency", until: Math.min(...host.inFlight.map((flight) => flight.expiresAt)) };
  }
  const from = allowedAt(host, policy);
  return from > now - skewMs ? { kind: "refused", reason: "clock", until: from + skewMs } : undefined;
}

function booked(
  host: HostState,
  { lease, hostKey, token, viaAllowed }: AdmitRequest,
  policy: PacePolicy,
  now: number,
): Admission {
  const sendBy = now + sendWindowMs(host, policy);
  const flight: Flight = {
    token,
    leaseId: lease.leaseId,
    urlId: lease.urlId,
    hostKey,
    kind: lease.kind,
    version: lease.version,
    admittedAt: now,
    sendBy,
    expiresAt: sendBy + policy.requestMs + limits.expireGraceMs,
  };
  return {
    kind: "admitted",
    flight,
    host: {
      ...host,
      epoch: Math.max(host.epoch, lease.epoch),
      policyVersion: policy.version,
      viaAllowed,
      inFlight: [...host.inFlight, flight],
      recent: counted(host.recent, lease),
      pages: host.pages + pagesOf(lease.kind),
      day: dayBudgetAdmitted(host.day, pagesOf(lease.kind), now),
    },
  };
}

/**
 * How long the request may take to leave. Where starts are spaced (more than one at once), the next one has to assume the latest
 * possible start of this one, so the window is kept as short as the gap.
 */
function sendWindowMs(host: HostState, policy: PacePolicy): number {
  if (policy.concurrency === 1) return limits.sendWithinMs;
  const gap = gapMs(host, policy);
  return gap === 0 ? limits.sendWithinMs : Math.min(limits.sendWithinMs, Math.max(limits.sendWithinMsMin, gap));
}

/** robots.txt is not a page. */
export function pagesOf(kind: LeaseKind): 0 | 1 {
  return kind === "robots" ? 0 : 1;
}

function counted(recent: HostState["recent"], lease: FetchLease): HostState["recent"] {
  if (lease.kind === "robots") return recent;
  const before = recent.find((entry) => entry.urlId === lease.urlId && entry.version === lease.version);
  const others = recent.filter((entry) => entry.urlId !== lease.urlId);
  return [...others, { urlId: lease.urlId, version: lease.version, tries: (before?.tries ?? 0) + 1 }].slice(-limits.recentUrls);
}
