// What does a document's role in its cluster change? Where its bytes are kept, when an index takes it, how often it is visited. Never its links.
import type { ClusterRole } from "../../schemas/daily/clusters.ts";

/** Google Cloud Storage's classes without the yearly one; the colder, the cheaper to keep and the dearer to read. */
export type StorageClass = "standard" | "nearline" | "coldline";

const DAY = 86_400_000;

/**
 * The age in days from which on each class is the cheaper one. Nearline and coldline are paid for 30 and 90 days at least, and reading
 * costs: a representative is read by whoever builds an index anew, a copy by hardly anybody, as its representative says the same.
 */
const colderAfter: Record<ClusterRole, { nearline: number; coldline: number }> = {
  single: { nearline: 90 * DAY, coldline: 365 * DAY },
  representative: { nearline: 90 * DAY, coldline: 365 * DAY },
  near: { nearline: 30 * DAY, coldline: 90 * DAY },
  copy: { nearline: 0, coldline: 30 * DAY },
};

/** `ageMs`: since the capture. */
export function storageClass(role: ClusterRole, ageMs: number): StorageClass {
  const { nearline, coldline } = colderAfter[role];
  if (ageMs >= coldline) return "coldline";
  return ageMs >= nearline ? "nearline" : "standard";
}

/**
 * 0 to 100, higher first. An index takes representatives and singles; near-duplicates where it has room, as one in four of them says
 * something else (Manku et al., 2007, section 4.1: precision 0.75 at three bits); copies only as further addresses of their representative.
 */
const priorities: Record<ClusterRole, number> = { single: 100, representative: 100, near: 25, copy: 0 };

export function indexPriority(role: ClusterRole): number {
  return priorities[role];
}

/**
 * By how much the time to the next visit grows, before it is held to limits.revisitMsMax. A visit to a copy teaches only whether it is
 * still one; it is made all the same, since a copy may change and its links are its own.
 */
const factors: Record<ClusterRole, number> = { single: 1, representative: 1, near: 2, copy: 4 };

export function revisitFactor(role: ClusterRole): number {
  return factors[role];
}
