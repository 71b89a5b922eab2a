// When may the next request to this host start? The clock of one pace key (the design's section 5; Crawl-delay is our courtesy).
import type { HostState } from "../../schemas/host-state.ts";
import { tokenFraction } from "../token-fraction.ts";
import { backedOff } from "./backoff.ts";
import type { PacePolicy } from "./policy.ts";

/** The record of a host that was never asked. */
export function newHost(epoch: number): HostState {
  return {
    epoch,
    lastSendAt: 0,
    lastAnsweredAt: 0,
    lastEndAt: 0,
    latencyMs: 0,
    backoffUntil: 0,
    backoffLevel: 0,
    inFlight: [],
    recent: [],
    pages: 0,
    bodyBytes: 0,
    policyVersion: 0,
  };
}

/** The gap in ms that the host is owed: a short Crawl-delay never shortens our own. */
export function gapMs(host: HostState, policy: PacePolicy): number {
  return Math.max(policy.delayMs, host.crawlDelayMs ?? 0);
}

/** Times are whole ms: one that was written may lie up to this much later than it says. */
const GRAIN_MS = 1;

/**
 * Unix ms from which the clock lets a request start; whether a place is free is another question.
 * With one request at a time the gap counts from the answer, so that no delay in connecting can make the server see a shorter one.
 * With more, starts are spaced: one under way may leave as late as its sendBy.
 */
export function allowedAt(host: HostState, policy: PacePolicy): number {
  const owed = gapMs(host, policy);
  const gap = owed === 0 ? 0 : owed + GRAIN_MS;
  if (policy.concurrency > 1) {
    const lastStart = host.inFlight.reduce((latest, flight) => Math.max(latest, flight.sendBy), host.lastSendAt);
    return Math.max(gap === 0 ? 0 : lastStart + gap, host.backoffUntil);
  }
  const afterAnswer = host.lastAnsweredAt === 0 ? 0 : host.lastAnsweredAt + gap;
  const afterEnd = host.lastEndAt === 0 ? 0 : host.lastEndAt + Math.round(policy.latencyFactor * host.latencyMs);
  return Math.max(afterAnswer, policy.delayMs === 0 ? 0 : afterEnd, host.backoffUntil);
}

/**
 * The record with its dead entries taken out. An entry that ended unreleased is an answer not heard: it counts as a 503 at the time
 * it expired. Whoever reads the record sees the same, so it need not be written for that alone. `skewMs`: the clock's error bound.
 */
export function withoutExpired(host: HostState, now: number, skewMs = 0): HostState {
  // In the order of their ends, whatever the order of their beginnings: each one's back-off follows from those before it.
  const dead = host.inFlight
    .filter((flight) => flight.expiresAt <= now - skewMs)
    .sort((one, other) => one.expiresAt - other.expiresAt);
  if (dead.length === 0) return host;
  let after: HostState = { ...host, inFlight: host.inFlight.filter((flight) => !dead.includes(flight)) };
  for (const flight of dead) {
    after = {
      ...after,
      ...backedOff(after, { reason: "unheard", at: flight.expiresAt, spread: tokenFraction(flight.token) }),
      lastSendAt: Math.max(after.lastSendAt, flight.sendBy),
      lastAnsweredAt: Math.max(after.lastAnsweredAt, flight.expiresAt),
      lastEndAt: Math.max(after.lastEndAt, flight.expiresAt),
    };
  }
  return after;
}
