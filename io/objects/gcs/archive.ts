// How do captures become WARC objects of Cloud Storage? A segment a group commit, all fetches of a worker sharing it, a cdxj beside each.
import { basename } from "node:path";
import { cdxjLine } from "../../../core/warc/cdxj.ts";
import type { Archive, ArchiveRecord, StoredAt } from "../../../ports/archive.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import { type RecordTable, StoreError } from "../../../ports/versioned-table.ts";
import type { SegmentPlace } from "../../../schemas/segment.ts";
import { COMPRESSION_LEVEL, gzipMember } from "../gzip-members.ts";
import { byteLength } from "../part.ts";
import { partNames } from "../part-names.ts";
import { cdxjNameOf } from "../repair-segments.ts";
import type { ObjectBucket } from "./bucket.ts";
import { BATCH_BYTES, BATCH_ITEMS, GATHER_MS, gatheredCommit, weightOf } from "./gathered-commit.ts";
import { createNamed, GZIP_TYPE, TEXT_TYPE } from "./named-object.ts";
import { readStoredObject } from "./read-stored.ts";

export interface GcsArchiveOptions {
  bucket: ObjectBucket;
  /** `pages`: segments are dt=YYYY-MM-DD/segment-….warc.gz below it. */
  folder: string;
  /** Where the segments lie that were composed into larger objects. */
  segments: RecordTable<SegmentPlace>;
  clock: Clock;
  random: Random;
  /** The record that opens a segment, given its own name without folder and the time (Unix ms). */
  warcinfo: (filename: string, at: number) => Uint8Array[];
  gatherMs?: number;
  batchBytes?: number;
  batchRecords?: number;
  compressionLevel?: number;
  log?: Log;
}

interface Entry {
  records: readonly ArchiveRecord[];
  /** A gzip member each. */
  members: readonly Uint8Array[];
}

/** Any number of workers may write to one folder. Nothing is repaired at a start: an object is there as a whole or not at all. */
export function gcsArchive(options: GcsArchiveOptions): Archive {
  const level = options.compressionLevel ?? COMPRESSION_LEVEL;
  const batch = { bytes: options.batchBytes ?? BATCH_BYTES, items: options.batchRecords ?? BATCH_ITEMS };
  let closed = false;
  let indexing: Promise<void> = Promise.resolve();

  /** The index is written when the segment stands, and behind its answer: what it speaks of is always there, and can be indexed anew. */
  async function commit(entries: readonly Entry[]): Promise<StoredAt[][]> {
    await indexing; // one behind at most, so that what waits is bounded
    const { name, openingBytes } = await createSegment(options, entries, level);
    const places = placesOf(entries, name, openingBytes);
    indexing = createIndex(options, name, linesOf(entries, places));
    return places;
  }

  const group = gatheredCommit({
    commit,
    clock: options.clock,
    gatherMs: options.gatherMs ?? GATHER_MS,
    batchBytes: batch.bytes,
    bytesOf: ({ members }: Entry) => weightOf(byteLength(members), members.length, batch),
  });
  return {
    async append(records) {
      if (records.length === 0) return [];
      const members = await Promise.all(records.map(({ bytes }) => gzipMember(bytes, level)));
      if (closed) throw new StoreError("the output is closed", { final: true });
      return group.submit({ records, members });
    },
    read: (at) => readStoredObject(options, at),
    async close() {
      closed = true;
      await group.drained();
      await indexing;
    },
  };
}

async function createSegment(options: GcsArchiveOptions, entries: readonly Entry[], level: number) {
  const { bucket, folder, clock, random, warcinfo } = options;
  const nameAt = partNames(random, "segment", ".warc.gz");
  let openingBytes = 0;
  const bytesFor = async (name: string) => {
    const opening = await gzipMember(warcinfo(basename(name), clock.now()), level);
    openingBytes = opening.length;
    return Buffer.concat([opening, ...entries.flatMap(({ members }) => members)]);
  };
  const nextName = () => nameAt(clock.now());
  const name = await createNamed({ bucket, folder, nextName, contentType: GZIP_TYPE, bytesFor });
  return { name, openingBytes };
}

function placesOf(entries: readonly Entry[], segment: string, openingBytes: number): StoredAt[][] {
  let offset = openingBytes;
  return entries.map(({ members }) =>
    members.map(({ length }) => {
      const place = { segment, offset, length };
      offset += length;
      return place;
    }),
  );
}

function linesOf(entries: readonly Entry[], places: readonly StoredAt[][]): string {
  const lineOf = ({ index }: ArchiveRecord, at: StoredAt) =>
    index === undefined ? "" : cdxjLine(index, { ...at, segment: basename(at.segment) });
  return entries.flatMap(({ records }, entry) => records.map((record, at) => lineOf(record, places[entry]![at]!))).join("");
}

/** Never rejects: compaction indexes a segment that has none. */
async function createIndex({ bucket, folder, log }: GcsArchiveOptions, segment: string, lines: string): Promise<void> {
  if (lines === "") return;
  const object = { name: `${folder}/${cdxjNameOf(segment)}`, bytes: Buffer.from(lines), contentType: TEXT_TYPE };
  await bucket.create(object).catch((error: unknown) => {
    const cause = error instanceof Error ? error.message : String(error);
    log?.("warn", "a segment has no index; compaction makes it anew from the segment", { segment, cause });
  });
}
