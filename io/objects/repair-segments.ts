// Which records of an unfinished WARC segment are whole, and which lines does its cdxj lack?
import { basename } from "node:path";
import { cdxjLine, cdxjPlace, fieldsOf, type IndexedAt } from "../../core/warc/cdxj.ts";
import { parseWarcRecord } from "../../core/warc/read.ts";
import type { Log } from "../../ports/log.ts";
import type { FileLayer } from "./file-layer.ts";
import { type Member, memberAt, wholeMembers } from "./gzip-members.ts";
import { type PartKind, type Repair, repairParts, wholeLines } from "./repair.ts";

/** Cuts the torn tails off segments that were not closed and completes their cdxj. `folder` is …/pages. Rejects with StoreError. */
export function repairSegments(folder: string, files: FileLayer, log?: Log): Promise<Repair[]> {
  return repairParts(folder, files, segments(files), log);
}

export function cdxjNameOf(segment: string): string {
  return segment.replace(/\.warc\.gz$/, ".cdxj");
}

function segments(files: FileLayer): PartKind {
  return {
    indexOf: cdxjNameOf,
    async check(path) {
      const known = await knownIndex(files, path);
      const lines: string[] = [];
      let wholeBytes = known.segmentBytes;
      for await (const member of wholeMembers(files, path, known.segmentBytes)) {
        const line = lineOf(member, basename(path));
        if (line === undefined) break;
        lines.push(line);
        wholeBytes = member.offset + member.length;
      }
      const lostRecords = known.ends.filter((end) => end > wholeBytes).length;
      return { wholeBytes, index: { from: known.indexBytes, tail: lines.join("") }, lostRecords };
    },
    countRecords: countGzipHeaders,
  };
}

interface KnownIndex {
  /** Up to where the index is right about the segment, and where its line for that ends. */
  segmentBytes: number;
  indexBytes: number;
  /** Where the records of the index end, if it is not right. */
  ends: number[];
}

/** A line is written after its record is durable: what the lines speak of need not be walked again, if the last one holds. */
async function knownIndex(files: FileLayer, path: string): Promise<KnownIndex> {
  const nothing = { segmentBytes: 0, indexBytes: 0, ends: [] };
  const indexPath = cdxjNameOf(path);
  if ((await files.size(indexPath)) === undefined) return nothing;
  const ends: number[] = [];
  let last: IndexedAt | undefined;
  let indexBytes = 0;
  for await (const { line, end } of wholeLines(files, indexPath)) {
    const place = cdxjPlace(line);
    if (place === undefined || place.segment !== basename(path) || place.offset < (last ? last.offset + last.length : 0)) break;
    last = place;
    ends.push(place.offset + place.length);
    indexBytes = end;
  }
  if (last === undefined) return nothing;
  const member = memberAt(await files.read(path, last.offset, last.length));
  if (typeof member === "string" || member.length !== last.length) return { ...nothing, ends };
  return { segmentBytes: last.offset + last.length, indexBytes, ends: [] };
}

/** The record's index line, "" for kinds without one; undefined where the member is no WARC record. */
function lineOf(member: Member, segment: string): string | undefined {
  const record = parseWarcRecord(member.bytes);
  if (!record.ok) return undefined;
  const fields = fieldsOf(record);
  return fields ? cdxjLine(fields, { segment, offset: member.offset, length: member.length }) : "";
}

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]); // deflate, no flags, no time: as node:zlib writes it

function countGzipHeaders(bytes: Uint8Array): number {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = view.indexOf(GZIP_HEADER); at >= 0; at = view.indexOf(GZIP_HEADER, at + 1)) count++;
  return count;
}
