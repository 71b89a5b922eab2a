// How do captures become WARC files that survive a power cut? One gzip member a record, a group commit a batch, a cdxj beside each.
import { basename, join } from "node:path";
import { cdxjLine } from "../../core/warc/cdxj.ts";
import type { Archive, ArchiveRecord, StoredAt } from "../../ports/archive.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { limits } from "../../schemas/limits.ts";
import { appendLog } from "./append-log.ts";
import type { FileLayer } from "./file-layer.ts";
import { COMPRESSION_LEVEL, gunzipMember, gzipMember } from "./gzip-members.ts";
import type { Durability } from "./part.ts";
import { partNames } from "./part-names.ts";
import type { Repair } from "./repair.ts";
import { cdxjNameOf, repairSegments } from "./repair-segments.ts";

export interface FileArchiveOptions {
  /** …/pages */
  folder: string;
  files: FileLayer;
  clock: Clock;
  random: Random;
  durability: Durability;
  /** The record that opens a segment, given its own name without folder and the time (Unix ms). */
  warcinfo: (filename: string, at: number) => Uint8Array[];
  segmentBytes?: number;
  segmentMs?: number;
  compressionLevel?: number;
  /** What the start found half written by an earlier run. */
  repaired?: (repairs: Repair[]) => void;
  log?: Log;
}

/** Repairs what an earlier run left, then takes records; a segment is begun by the first. One process a folder. Rejects with StoreError. */
export async function fileArchive(options: FileArchiveOptions): Promise<Archive> {
  const repairs = await repairSegments(options.folder, options.files, options.log);
  options.repaired?.(repairs);
  const level = options.compressionLevel ?? COMPRESSION_LEVEL;
  const log = appendLog({
    ...options,
    nameAt: partNames(options.random, "segment", ".warc.gz"),
    indexName: cdxjNameOf,
    partBytes: options.segmentBytes ?? limits.segmentBytes,
    partMs: options.segmentMs ?? limits.segmentMs,
    opening: (name, at) => gzipMember(options.warcinfo(basename(name), at), level),
  });
  return {
    async append(records) {
      if (records.length === 0) return [];
      const chunks = await Promise.all(records.map(({ bytes }) => gzipMember(bytes, level)));
      const indexLines = (place: { name: string; offset: number }) => linesOf(records, placesOf(chunks, place));
      return placesOf(chunks, await log.append({ chunks, indexLines }));
    },
    read: (at) => readStored(options.folder, options.files, at),
    close: () => log.close(),
  };
}

function placesOf(chunks: readonly Uint8Array[], first: { name: string; offset: number }): StoredAt[] {
  let offset = first.offset;
  return chunks.map(({ length }) => {
    const place = { segment: first.name, offset, length };
    offset += length;
    return place;
  });
}

function linesOf(records: readonly ArchiveRecord[], places: readonly StoredAt[]): string {
  return records
    .map(({ index }, at) => index && cdxjLine(index, { ...places[at]!, segment: basename(places[at]!.segment) }))
    .join("");
}

const SEGMENT = /^dt=\d{4}-\d\d-\d\d\/[\w-]+\.warc\.gz$/;

/** A stored record's bytes; needs no archive, so that tools read while a crawl writes. Rejects with StoreError. */
export async function readStored(folder: string, files: FileLayer, at: StoredAt): Promise<Uint8Array> {
  if (!SEGMENT.test(at.segment)) throw new StoreError(`no segment is called '${at.segment}'`, { final: true });
  try {
    const member = await files.read(join(folder, at.segment), at.offset, at.length);
    if (member.length < at.length) throw new Error(`the segment ends after ${at.offset + member.length} bytes`);
    return await gunzipMember(member);
  } catch (cause) {
    throw new StoreError(`cannot read ${at.length} bytes at ${at.offset} of ${at.segment}`, { cause });
  }
}
