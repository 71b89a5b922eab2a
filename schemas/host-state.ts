// What is known of one pace key's clock: facts of the requests made, and those under way. The allowed time is computed, never stored.
import { bool, list, oneOf, optional, struct, type TypeOf, text, uint } from "./codec.ts";

export const leaseKinds = ["page", "robots", "sitemap"] as const;
export type LeaseKind = (typeof leaseKinds)[number];

const flight = struct({
  /** Drawn anew by each execution. */
  token: text,
  leaseId: text,
  urlId: text,
  hostKey: text,
  kind: oneOf(leaseKinds),
  version: uint,
  admittedAt: uint,
  sendBy: uint,
  expiresAt: uint,
});

export const hostState = struct({
  /** The number of the job that owns the host; only rises. */
  epoch: uint,
  /** Unix ms; 0: never. */
  lastSendAt: uint,
  /** First byte of the last answer, or the end of a request that got none. */
  lastAnsweredAt: uint,
  lastEndAt: uint,
  /** Smoothed time from sending to first byte. */
  latencyMs: uint,
  /** The largest Crawl-delay of its host keys. */
  crawlDelayMs: optional(uint),
  backoffUntil: uint,
  backoffLevel: uint,
  /** The reason of the last failure or the status that caused the back-off. */
  backoffReason: optional(text),
  inFlight: list(flight),
  /** The last URLs admitted, newest last. */
  recent: list(struct({ urlId: text, version: uint, tries: uint })),
  /** Requests for pages and sitemaps admitted so far. */
  pages: uint,
  bodyBytes: uint,
  policyVersion: uint,
  pausedUntil: optional(uint),
  /** The last connection went to an address that only --allow-address admits: this crawl's own or an agreed one. */
  viaAllowed: optional(bool),
  /** The pace key that took over; every admit here refuses. */
  movedTo: optional(text),
  /** The smallest time between one answer and the next request so far, and what was asked for then: evidence, not input. */
  smallestGap: optional(struct({ gapMs: uint, allowedMs: uint })),
  /** What it gave on one UTC day (days since 1970-01-01): page requests admitted, body bytes over the wire. */
  day: optional(struct({ day: uint, pages: uint, bytes: uint })),
});

export type HostState = TypeOf<typeof hostState>;
export type Flight = TypeOf<typeof flight>;

/** When a host next has something due; read by sweeps, row key hostDueKey. */
export const hostDue = struct({ nextDueAt: uint });
export type HostDue = TypeOf<typeof hostDue>;
