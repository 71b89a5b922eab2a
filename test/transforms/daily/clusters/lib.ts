// Which rows does clustering give for these documents? By the engine, and by hand: all pairs compared, and all that hangs together led in one list.
import assert from "node:assert/strict";
import { keyed } from "../../../../beam/coders.ts";
import type { Keyed } from "../../../../beam/dofn.ts";
import type { BatchBuilder } from "../../../../beam/pipeline.ts";
import { type Halves, halvesOf, hashOf, NEAR_BITS } from "../../../../core/clusters/bands.ts";
import { REACH_BITS } from "../../../../core/clusters/membership.ts";
import { hammingDistance } from "../../../../core/content/simhash.ts";
import { uint } from "../../../../schemas/codec.ts";
import { type ClusterDocument, type ClusterRow, clusterDocument, clusterRow } from "../../../../schemas/daily/clusters.ts";
import { rowKey } from "../../../../schemas/row-key.ts";
import { clusterDofns, clusterSteps } from "../../../../transforms/daily/clusters/cluster-steps.ts";
import { type BatchTestOptions, given, startBatch, told } from "../../../beam/batch/lib.ts";
import { components, nearPairs, words } from "../../../core/clusters/brute-force.ts";

export type Documents = readonly Keyed<ClusterDocument>[];

/** By the row keys, in their order. */
export type Rows = [key: string, row: ClusterRow][];

export interface Clustered {
  rows: Rows;
  counts: Record<string, number>;
}

const keyedDocument = keyed(clusterDocument);
const keyedRow = keyed(clusterRow);
const keyedCount = keyed(uint);

/** A pipeline that clusters the documents, and what it came to. */
export function clusterJob(documents: Documents) {
  const rows: Rows = [];
  const counts: [name: string, count: number][] = [];
  const read = given("Read", keyedDocument, () => documents);
  const tellRow = told(keyedRow, ({ key, value }) => void rows.push([key, value]), "TellRow");
  const tellCount = told(keyedCount, ({ key, value }) => void counts.push([key, value]), "TellCount");
  const build = (p: BatchBuilder) => {
    const clusters = clusterSteps(p, p.start("Read", read, {}).out, documents.length);
    p.each("TellRow", tellRow, {}, clusters.rows);
    p.each("TellCount", tellCount, {}, clusters.counts);
  };
  const results = (): Clustered => {
    assert.equal(new Set(counts.map(([name]) => name)).size, counts.length, "a count is told twice");
    return { rows: rows.sort(byKey), counts: Object.fromEntries(counts) };
  };
  return { definitions: [read, tellRow, tellCount, ...clusterDofns], build, results };
}

export async function clustered(documents: Documents, options: BatchTestOptions = {}): Promise<Clustered> {
  const { definitions, build, results } = clusterJob(documents);
  const { job, logged } = startBatch(definitions, build, options);
  const end = await job.done;
  assert.equal(end.state, "done", logged.join("\n"));
  return results();
}

function byKey([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}

interface Hash {
  hash: string;
  documents: ClusterDocument[];
}

export function documentOf(number: number, more: Partial<ClusterDocument> = {}): ClusterDocument {
  const urlId = `url-${String(number).padStart(6, "0")}`;
  return { urlId, paceKey: `host-${number % 7}.example`, quality: 50, discoveredAt: 1_000 + number, ...more };
}

/** Each hash has one to three documents of some quality and age. */
export function documentsOf(hashes: readonly Halves[], seed: number): Keyed<ClusterDocument>[] {
  const next = words(seed);
  return hashes.flatMap((hash, at) =>
    Array.from({ length: next() % 4 === 0 ? 1 + (next() % 3) : 1 }, (_, copy) => ({
      key: hashOf(hash),
      value: documentOf(at * 3 + copy, { quality: next() % 101, discoveredAt: next() % 50 }),
    })),
  );
}

/** The order of representation, told anew: a lesser text goes first. */
function rank({ quality, discoveredAt, urlId }: ClusterDocument): string {
  return `${String(10 - Math.floor(quality / 10)).padStart(2, "0")} ${String(discoveredAt).padStart(15, "0")} ${urlId}`;
}

const bestOf = (documents: readonly ClusterDocument[]) =>
  documents.reduce((best, one) => (rank(one) < rank(best) ? one : best));

export function byHand(documents: Documents): Rows {
  const byHash = Map.groupBy(documents, ({ key }) => key);
  byHash.delete("0000000000000000");
  const hashes = [...byHash].map(([hash, all]): Hash => ({ hash, documents: all.map(({ value }) => value) }));
  const halves = hashes.map(({ hash }) => halvesOf(hash));
  const roots = components(hashes.length, nearPairs(halves, NEAR_BITS));
  const together = Map.groupBy(hashes, (one) => roots[hashes.indexOf(one)]);
  return [...together.values()].flatMap(clustersOf).flatMap(rowsOf).sort(byKey);
}

function clustersOf(all: readonly Hash[]): Hash[][] {
  const clusters: Hash[][] = [];
  let left = [...all];
  while (left.length > 0) {
    const best = bestOf(left.flatMap(({ documents }) => documents));
    const winner = left.find(({ documents }) => documents.includes(best))!;
    const near = (one: Hash) => hammingDistance(one.hash, winner.hash) <= REACH_BITS;
    clusters.push([winner, ...left.filter((one) => one !== winner && near(one))]);
    left = left.filter((one) => !near(one));
  }
  return clusters;
}

/** The representative's hash stands first. */
function rowsOf(cluster: readonly Hash[]): Rows {
  const [winner] = cluster as [Hash];
  const representative = bestOf(winner.documents).urlId;
  const size = cluster.reduce((sum, { documents }) => sum + documents.length, 0);
  if (size === 1) return [];
  return cluster.flatMap(({ hash, documents }) =>
    documents.map(({ urlId, paceKey }): [string, ClusterRow] => {
      const distance = hammingDistance(hash, winner.hash);
      const role = urlId === representative ? "representative" : distance === 0 ? "copy" : "near";
      const key = rowKey(paceKey, urlId);
      const own = { urlId, paceKey, simHash: hash, role, exactCopies: documents.length, distance } as const;
      return [key, { clusterId: winner.hash, representative, size, ...own }];
    }),
  );
}
