// What does a crawl's set of SimHashes look like? Made up, the same for the same number: mostly single documents, some alike, and one hub.
import { type Halves, hashOf, NEAR_BITS } from "../../../core/clusters/bands.ts";
import type { ClusterDocument } from "../../../schemas/daily/clusters.ts";

/** Of all documents: those of one huge cluster, half of them its centre's copies; near-duplicates in groups; copies in groups. */
export const shares = { hub: 0.05, near: 0.15, copies: 0.1 } as const;

const GROUP_MAX = 12; // documents of a group; two at least
const HUB_CENTRE: Halves = { high: 0x5bd1e995, low: 0x1b873593 };

export interface HashedDocument {
  key: string;
  value: ClusterDocument;
}

/** Part `part` of `parts` of `total` documents. Their groups are not parted. */
export function* syntheticDocuments(total: number, part: number, parts: number): Generator<HashedDocument> {
  const from = Math.floor((total * part) / parts);
  const to = Math.floor((total * (part + 1)) / parts);
  const next = words(part + 1);
  for (let number = from; number < to; ) {
    const group = groupOf(next, to - number);
    for (const hash of group) yield { key: hashOf(hash), value: documentOf(number++, next) };
  }
}

function groupOf(next: () => number, left: number): Halves[] {
  const size = Math.min(left, 2 + (next() % (GROUP_MAX - 1)));
  const centre = { high: next(), low: next() };
  const chance = next() / 2 ** 32;
  // A group counts for all of its documents, a hub's document and a single one for themselves.
  const mean = 2 + (GROUP_MAX - 2) / 2;
  const weights = [shares.hub, shares.near / mean, shares.copies / mean];
  const single = 1 - shares.hub - shares.near - shares.copies;
  const [hub = 0, near = 0, copies = 0] = weights.map((weight) => weight / (single + weights.reduce((a, b) => a + b)));
  if (chance < hub) return [next() % 2 === 0 ? HUB_CENTRE : near3(HUB_CENTRE, next)];
  if (chance < hub + near) return Array.from({ length: size }, () => near3(centre, next));
  if (chance < hub + near + copies) return Array.from({ length: size }, () => centre);
  return [centre];
}

function near3(centre: Halves, next: () => number): Halves {
  let { high, low } = centre;
  for (let flips = next() % (NEAR_BITS + 1); flips > 0; flips--) {
    const bit = next() % 64;
    if (bit < 32) low = (low ^ (1 << bit)) >>> 0;
    else high = (high ^ (1 << (bit - 32))) >>> 0;
  }
  return { high, low };
}

const HOSTS = 5_000;

function documentOf(number: number, next: () => number): ClusterDocument {
  const urlId = `${number.toString(36).padStart(11, "0")}${next().toString(36).padStart(11, "0")}`;
  return { urlId, paceKey: `www.host-${number % HOSTS}.example`, quality: next() % 101, discoveredAt: 1.7e12 + next() };
}

/** 32 bits a call (xorshift). */
function words(seed: number): () => number {
  let state = Math.imul(seed, 0x9e3779b1) | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
