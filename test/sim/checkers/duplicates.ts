// Are pages that are alike known to be alike, and no others? By what the world knows of them, what the records say, and what was stored.
import type { CdxjFields } from "../../../ports/archive.ts";
import type { IndexEvent } from "../../../schemas/events.ts";
import type { SimPage } from "../pages.ts";
import { pageAt, type World } from "../world.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";
import { kept } from "./kept.ts";
import { Sample } from "./sample.ts";
import { urlRows } from "./tables.ts";

/** What one page of the world became. */
interface Fate {
  url: string;
  /** Both in hex. */
  simHash: string;
  contentHash: string;
}

/** Pages of the world with one text. */
interface Family {
  kind: SimPage["kind"];
  members: Fate[];
}

/** Near-duplicates differ in at most so many of 64 bits (Manku et al., 2007). */
const NEAR_BITS = 3;
/**
 * Of the pairs of one text that differ in a word or two, SimHash keeps its promise for most: for 88 to 98 of 100 in 18 runs. All pairs of a
 * family share one page and few texts are copied, so the share varies much with the seed, and the bound stands well below.
 */
const NEAR_SHARE = 0.75;
const PAIRS_MIN = 50; // fewer tell nothing of a share
const FAMILIES_COMPARED = 200; // each with each other
const MEMBERS_KEPT = 100;
const FAMILIES_KEPT = 50_000;
/** A body that was stored is found from then on; fetches that overlap may each store it. */
const STORED_TWICE_MS = 60_000;

export function duplicates({ world, faultless }: SimFacts): Checker {
  const violations = new Violations();
  const places = new Sample<string>(FAMILIES_KEPT);
  const storedAt = new Sample<number>(FAMILIES_KEPT);
  const figures = { mirrors: 0, copies: 0, nearPairs: 0, nearPairsFound: 0 };

  /** One body has one place, whoever refers to it. */
  function hear({ url, contentHash, segment, offset }: IndexEvent): void {
    if (contentHash === undefined || !places.chosen(contentHash)) return;
    const place = `${segment} ${offset}`;
    const known = places.get(contentHash);
    if (known === undefined) places.set(contentHash, place);
    else if (known !== place) violations.add(`${url}: its body stands at ${place}, and at ${known}`);
  }

  /** A worker that dies, or a store that fails, may leave a body of which nobody knows. */
  function see({ url, at, mime, digest }: CdxjFields): void {
    if (!faultless || mime === "warc/revisit" || !storedAt.chosen(digest)) return;
    const first = storedAt.get(digest);
    if (first === undefined) storedAt.set(digest, at);
    else if (at > first + STORED_TWICE_MS) violations.add(`${url}: a body of ${at - first} ms ago was stored again`);
  }

  function judge(families: readonly Family[]): void {
    for (const { kind, members } of families) {
      const [first, ...others] = members;
      for (const other of others) {
        if (kind === "mirror") {
          if (other.contentHash !== first!.contentHash || other.simHash !== first!.simHash)
            violations.add(`${other.url} and ${first!.url} have one body, and not one hash`);
          continue;
        }
        figures.nearPairs++;
        if (distance(other.simHash, first!.simHash) <= NEAR_BITS) figures.nearPairsFound++;
      }
    }
    if (figures.nearPairs >= PAIRS_MIN && figures.nearPairsFound < NEAR_SHARE * figures.nearPairs)
      violations.add(`${figures.nearPairsFound} of ${figures.nearPairs} pairs of one text are within ${NEAR_BITS} bits`);
    for (const [one, other] of pairs(families.map(({ members }) => members[0]!).slice(0, FAMILIES_COMPARED))) {
      const bits = distance(one.simHash, other.simHash);
      if (bits <= NEAR_BITS) violations.add(`${one.url} and ${other.url} have nothing in common, and differ in ${bits} bits`);
    }
  }

  return {
    name: "duplicates",
    violations,
    figures: () => figures,
    stored: see,
    published(kind, event) {
      if (kind === "index") hear(event as IndexEvent);
    },
    async finish(final) {
      const families = new Map<string, Family>();
      for await (const rows of urlRows(final)) {
        for (const { record } of rows) {
          const { canonicalUrl: url, simHash, contentHash, lastFetchAt = 0 } = record;
          const page = simHash === undefined || contentHash === undefined ? undefined : pageOfUrl(world, url, lastFetchAt);
          if (page === undefined || page.kind === "nothing" || families.size >= FAMILIES_KEPT) continue;
          const family = kept(families, `${page.kind} ${page.text}`, (): Family => ({ kind: page.kind, members: [] }));
          if (family.members.length >= MEMBERS_KEPT) continue;
          family.members.push({ url, simHash: hexOf(simHash!), contentHash: hexOf(contentHash!) });
          if (page.kind === "mirror") figures.mirrors++;
          if (page.kind === "copy") figures.copies++;
        }
      }
      judge([...families.values()]);
    },
  };
}

function pageOfUrl(world: World, url: string, at: number): SimPage | undefined {
  const { hostname, pathname, search } = new URL(url);
  const host = world.byName.get(hostname);
  return host === undefined ? undefined : pageAt(world, host, `${pathname}${search}`, at);
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function* pairs<T>(items: readonly T[]): Generator<[T, T]> {
  for (const [index, one] of items.entries()) for (const other of items.slice(index + 1)) yield [one, other];
}

/** Bits in which two hexadecimal numbers of one length differ. */
function distance(one: string, other: string): number {
  let bits = 0;
  for (let at = 0; at < one.length; at++) bits += BITS_SET[Number.parseInt(one[at]!, 16) ^ Number.parseInt(other[at]!, 16)]!;
  return bits;
}

const BITS_SET = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];
