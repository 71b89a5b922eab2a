// What does the host record say after a request ended, was never sent, or could not even connect?
import type { HostState } from "../../schemas/host-state.ts";
import type { FailureReason } from "../../schemas/reasons.ts";
import { pagesOf } from "./admit.ts";
import { backedOff, recovered } from "./backoff.ts";
import { dayBudgetReleased, dayBudgetUndone } from "./day-budget.ts";
import { gapMs } from "./host-clock.ts";
import type { PacePolicy } from "./policy.ts";

export type RequestEnd =
  | {
      kind: "answered";
      status: number;
      /** Unix ms of the request's first byte, the answer's first byte, and the end of the exchange. */
      sentAt: number;
      answeredAt: number;
      endedAt: number;
      retryAfterMs?: number;
      bodyBytes: number;
    }
  /** Sent, and no answer came, or one that could not be read. */
  | { kind: "failed"; reason: FailureReason; sentAt: number; endedAt: number }
  /** Nothing left; the admit is undone. */
  | { kind: "unsent" };

/** The record after the request of `token` ended. A token that is not in flight changes nothing. `spread`: 0 to 1, for back-off. */
export function release(record: HostState, policy: PacePolicy, token: string, end: RequestEnd, spread: number): HostState {
  const flight = record.inFlight.find((entry) => entry.token === token);
  if (flight === undefined) return record;
  const host: HostState = { ...record, inFlight: record.inFlight.filter((entry) => entry !== flight) };
  switch (end.kind) {
    case "unsent":
      return {
        ...host,
        pages: host.pages - pagesOf(flight.kind),
        recent: uncounted(host.recent, flight),
        ...dayOf(dayBudgetUndone(host.day, pagesOf(flight.kind), flight.admittedAt)),
      };
    case "failed":
      return {
        ...host,
        ...backedOff(host, { reason: end.reason, at: end.endedAt, spread }),
        ...times(host, { sentAt: end.sentAt, answeredAt: end.endedAt, endedAt: end.endedAt }),
        ...evidence(host, policy, end.sentAt),
      };
    case "answered":
      return {
        ...host,
        ...afterAnswer(host, end, spread),
        ...times(host, end),
        ...evidence(host, policy, end.sentAt),
        latencyMs: smoothed(host.latencyMs, end.answeredAt - end.sentAt),
        bodyBytes: host.bodyBytes + end.bodyBytes,
        day: dayBudgetReleased(host.day, end.bodyBytes, end.endedAt),
      };
  }
}

function dayOf(day: HostState["day"]): Pick<HostState, "day"> | Record<string, never> {
  return day === undefined ? {} : { day };
}

/** The record after a connection could not be made: the host was touched, though nothing was sent. Needs no admit. */
export function connectFailed(record: HostState, reason: FailureReason, endedAt: number, spread: number): HostState {
  return {
    ...record,
    ...backedOff(record, { reason, at: endedAt, spread }),
    lastAnsweredAt: Math.max(record.lastAnsweredAt, endedAt),
    lastEndAt: Math.max(record.lastEndAt, endedAt),
  };
}

/** 429 and 5xx ask for rest; Retry-After counts on them and on redirects (RFC 9110 10.2.3). */
export function asksForRest(status: number): boolean {
  return status === 429 || status >= 500;
}

function afterAnswer(host: HostState, end: Extract<RequestEnd, { kind: "answered" }>, spread: number) {
  const { status, retryAfterMs, answeredAt } = end;
  const told = retryAfterMs === undefined || status < 300 ? {} : { retryAfterMs };
  if (asksForRest(status)) return backedOff(host, { reason: String(status), at: answeredAt, spread, ...told });
  if (told.retryAfterMs === undefined) return recovered(host);
  return { ...recovered(host), backoffUntil: Math.max(host.backoffUntil, answeredAt + told.retryAfterMs) };
}

function times(host: HostState, at: { sentAt: number; answeredAt: number; endedAt: number }) {
  return {
    lastSendAt: Math.max(host.lastSendAt, at.sentAt),
    lastAnsweredAt: Math.max(host.lastAnsweredAt, at.answeredAt),
    lastEndAt: Math.max(host.lastEndAt, at.endedAt),
  };
}

/** Keeps the smallest gap ever made, and what was owed then. */
function evidence(host: HostState, policy: PacePolicy, sentAt: number): Pick<HostState, "smallestGap"> | Record<string, never> {
  const before = policy.concurrency > 1 ? host.lastSendAt : host.lastAnsweredAt;
  if (before === 0 || sentAt < before) return {};
  const gap = sentAt - before;
  if (host.smallestGap !== undefined && host.smallestGap.gapMs <= gap) return {};
  return { smallestGap: { gapMs: gap, allowedMs: gapMs(host, policy) } };
}

const SMOOTHING = 0.25; // weight of the newest latency

function smoothed(before: number, latencyMs: number): number {
  const latest = Math.max(0, latencyMs);
  return Math.round(before === 0 ? latest : before + SMOOTHING * (latest - before));
}

/** The record when a try of the URL is not to count against it: what failed was ours. */
export function forgiven(host: HostState, url: { urlId: string; version: number }): HostState {
  return { ...host, recent: uncounted(host.recent, url) };
}

function uncounted(recent: HostState["recent"], { urlId, version }: { urlId: string; version: number }): HostState["recent"] {
  return recent.map((entry) =>
    entry.urlId === urlId && entry.version === version ? { ...entry, tries: Math.max(0, entry.tries - 1) } : entry,
  );
}
