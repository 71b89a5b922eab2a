// Which documents are near-duplicates, of whom, and what does each of them need to be told? The steps of clustering, as data passes them.
import type { Keyed, Outputs } from "../../../beam/dofn.ts";
import type { BatchBuilder, Collection, Collections } from "../../../beam/pipeline.ts";
import { keyBitsFor } from "../../../core/clusters/bands.ts";
import { CROWD_LEVELS } from "../../../core/clusters/leaders.ts";
import { STAR_ROUNDS } from "../../../core/clusters/stars.ts";
import type { ClusterDocument, ClusterRow } from "../../../schemas/daily/clusters.ts";
import { election, leadInOrder, reach } from "./elections.ts";
import type { Candidate, Known } from "./elements.ts";
import { largeStarStep, nameTogether, smallStarStep } from "./hang-together.ts";
import type { Lookup } from "./lookup.ts";
import { linkBands, linkNarrow, toBands } from "./near-links.ts";
import { clusterSize, copyRows, hashRows } from "./rows.ts";
import { leaveOutEmpty, sameHash } from "./same-hash.ts";
import { sumCounts } from "./tally.ts";

export interface Clusters {
  /** Under the row key of the document's URL record; single documents have no row. */
  rows: Collection<Keyed<ClusterRow>>;
  /** The report, each count once, under its name (`countNames`); one of nothing is absent. */
  counts: Collection<Keyed<number>>;
}

const linkBandsStep = linkBands();
const leadStep = leadInOrder();

/** All DoFns of these steps, for the registry of whoever runs them. They need no services. */
export const clusterDofns = [
  ...[leaveOutEmpty, sameHash, toBands, linkBandsStep, linkNarrow, largeStarStep, smallStarStep, nameTogether],
  ...[election, reach, leadStep, clusterSize, hashRows, copyRows, sumCounts],
] as const;

/**
 * `documents`: each under its SimHash (16 hex digits), each URL once. `expected`: how many there are, by order of magnitude. Far fewer cost
 * nothing but speed, and with sixteen times as many the keys that hold too many begin to be parted, which costs more.
 */
export function clusterSteps(p: BatchBuilder, documents: Collection<Keyed<ClusterDocument>>, expected: number): Clusters {
  const given = p.each("LeaveOutEmpty", leaveOutEmpty, {}, documents);
  const same = p.grouped("SameHash", sameHash, {}, given.documents);
  const near = nearLinks(p, same.hashes, keyBitsFor(expected));
  const settled = starRounds(p, near.links);
  const named = p.grouped("NameTogether", nameTogether, {}, p.flatten("HashesAndLinks", same.hashes, settled));
  const elected = elections(p, named.together);
  const members = p.flatten("Members", named.alone, elected.members);
  const sizes = p.combined("ClusterSize", clusterSize, members);
  const hashes = lookupTwice(p, "HashRows", hashRows, p.flatten("MembersAndSizes", members, sizes));
  const copies = lookupTwice(p, "CopyRows", copyRows, p.flatten("CopiesAndTold", same.others, hashes.told));
  const counts = [same.counts, near.counts, named.counts, elected.counts, hashes.counts, copies.counts];
  return {
    rows: p.flatten("ClusterRows", hashes.rows, copies.rows),
    counts: p.combined("ClusterCounts", sumCounts, p.flatten("AllCounts", given.counts, ...counts)),
  };
}

/** Links between hashes within reach of each other, at both their ends. */
function nearLinks(p: BatchBuilder, hashes: Collection<Keyed<Known>>, keyBits: number) {
  const bands = p.each("ToBands", toBands, { keyBits }, hashes);
  const wide = p.grouped("LinkBands", linkBandsStep, {}, bands.banded);
  const narrow = p.grouped("LinkNarrow", linkNarrow, {}, wide.crowded);
  return { links: p.flatten("NearLinks", wide.links, narrow.links), counts: wide.counts };
}

/** A fixed number of rounds: what they leave unsettled is counted, and parted. */
function starRounds(p: BatchBuilder, links: Collection<Keyed<Known>>): Collection<Keyed<Known>> {
  let now = links;
  for (let round = 1; round <= STAR_ROUNDS; round++) {
    const large = p.grouped(`LargeStar${round}`, largeStarStep, {}, now);
    now = p.grouped(`SmallStar${round}`, smallStarStep, {}, large.links).links;
  }
  return now;
}

/** Members of clusters: of those whom the elected reach, and of those who are led after them. */
function elections(p: BatchBuilder, together: Collection<Keyed<Candidate>>) {
  const elected = p.combined("Election", election, together);
  const reached = lookupTwice(p, "Reach", reach, p.flatten("CandidatesAndElected", together, elected));
  const levels: Collections<typeof leadStep.outputs>[] = [];
  for (let level = 0; level <= CROWD_LEVELS; level++) {
    const left = levels.at(-1)?.crowd ?? reached.beyond;
    levels.push(p.grouped(`Lead${level}`, leadStep, { level }, left));
  }
  const members = p.flatten("Reached", reached.members, ...levels.map((level) => level.members));
  const [first, ...more] = levels.map((level) => level.counts);
  return { members, counts: p.flatten("LeadCounts", first!, ...more) };
}

/** The lookup, and once more for the rows that it deferred. */
function lookupTwice<V, O extends Outputs>(
  p: BatchBuilder,
  label: string,
  step: Lookup<V, O>,
  input: Collection<Keyed<V>>,
): Collections<O> {
  const first = p.grouped(label, step, {}, input);
  const second = p.grouped(`${label}Deferred`, step, {}, first.deferred);
  const names = Object.keys(step.outputs).filter((name) => name !== "deferred");
  const flat = names.map((name) => [name, p.flatten(`${label}.${name}`, first[name]!, second[name]!)]);
  return Object.fromEntries(flat) as Collections<O>;
}
