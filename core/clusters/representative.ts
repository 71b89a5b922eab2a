// Which document stands for its near-duplicates? The better one; among those of like quality the older; ties go by URL id.
import type { ClusterDocument, Elected } from "../../schemas/daily/clusters.ts";

/** Of quality, 0 to 100: what differs by less is noise of a template, and age decides. */
const QUALITY_STEP = 10;

/** Whether `one` rather than `other` represents both: a strict total order of documents with different URL ids. */
export function represents(one: ClusterDocument, other: ClusterDocument): boolean {
  const better = Math.floor(one.quality / QUALITY_STEP) - Math.floor(other.quality / QUALITY_STEP);
  if (better !== 0) return better > 0;
  if (one.discoveredAt !== other.discoveredAt) return one.discoveredAt < other.discoveredAt;
  return one.urlId < other.urlId;
}

/** The one that represents both; nobody yields to anybody. Associative and commutative. */
export function elect(one: Elected | undefined, other: Elected | undefined): Elected | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return represents(one.document, other.document) ? one : other;
}
