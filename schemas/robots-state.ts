// What is known of one host key's robots.txt (RFC 9309): the answer as it came, and until when it counts.
import { bytes, oneOf, optional, struct, type TypeOf, text, uint } from "./codec.ts";

export const robotsStatuses = [
  "rules", // 2xx: the body rules
  "allow-all", // 4xx: unavailable, RFC 9309 2.3.1.3
  "unreachable", // 5xx and network failure: complete disallow, 2.3.1.4
  "deferred", // 429: neither; asked again later
  "redirecting", // a hop is still to be asked
] as const;

export const robotsState = struct({
  status: oneOf(robotsStatuses),
  /** Unix ms of the answer. */
  fetchedAt: uint,
  /** From then on it must be asked again; for unreachable, deferred and redirecting the time of the next attempt. */
  expiresAt: uint,
  /** The body, at most limits.robotsBytes. Kept also while unreachable, from the last success. */
  body: optional(bytes),
  etag: optional(text),
  lastModified: optional(text),
  httpStatus: optional(uint),
  /** A FailureReason or what else made it unreachable. */
  reason: optional(text),
  crawlDelayMs: optional(uint),
  /** Where the chain of redirects stands, and how many hops it took. */
  target: optional(text),
  hop: optional(uint),
  /** Failed attempts in a row. */
  failures: optional(uint),
  /** When it first could not be reached. */
  unreachableSince: optional(uint),
});

export type RobotsState = TypeOf<typeof robotsState>;
