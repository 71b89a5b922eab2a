// Who belongs to a cluster, and as what? What hangs together is no cluster yet: nearness is not transitive, reach bounds it.
import { type ClusterRole, isHash } from "../../schemas/daily/clusters.ts";
import { hammingDistance } from "../content/simhash.ts";

/**
 * Bits between a member and its representative at most: two steps of a near-duplicate. So two members differ in 12 bits at most,
 * however long the chain is that they hang on.
 */
export const REACH_BITS = 6;

/** Without a word in it a text has a hash of zeros (core/content/simhash.ts), which says nothing. */
export function isComparable(hash: string): boolean {
  return isHash(hash) && hash !== "0".repeat(16);
}

/** The distance to the representative's hash in bits, or undefined where it does not reach so far. */
export function reachedFrom(representative: string, hash: string): number | undefined {
  const distance = hammingDistance(representative, hash);
  return distance <= REACH_BITS ? distance : undefined;
}

/** Of a document that is its own cluster alone: single; of one with the representative's very hash: a copy. */
export function roleOf(given: { isRepresentative: boolean; distance: number; size: number }): ClusterRole {
  if (given.size === 1) return "single";
  if (given.isRepresentative) return "representative";
  return given.distance === 0 ? "copy" : "near";
}
