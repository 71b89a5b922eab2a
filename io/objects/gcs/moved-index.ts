// What does the index of a composed object say? The lines of its parts with the new file and shifted offsets; a part without, its records'.
import { basename } from "node:path";
import { cdxjLine, cdxjPlace, fieldsOf, type IndexedAt } from "../../../core/warc/cdxj.ts";
import { parseWarcRecord } from "../../../core/warc/read.ts";
import type { Log } from "../../../ports/log.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import { memberAt } from "../gzip-members.ts";
import { cdxjNameOf } from "../repair-segments.ts";
import type { ObjectBucket } from "./bucket.ts";
import type { CompactionPlan, PlannedPart } from "./compaction-plan.ts";
import { sideBySide } from "./side-by-side.ts";

export interface Indexing {
  bucket: ObjectBucket;
  folder: string;
  log?: Log;
}

/** Some 300 bytes a capture: 25 MB for a full object of small pages. Rejects with StoreError. */
export async function movedIndex(indexing: Indexing, plan: CompactionPlan): Promise<Uint8Array> {
  const indexes = await sideBySide(plan.parts, (part) => linesOf(indexing, part));
  let base = 0;
  const moved = plan.parts.map(({ bytes }, at) => {
    const lines = indexes[at]!.map((line) => movedLine(line, basename(plan.target), base));
    base += bytes;
    return lines.join("");
  });
  return Buffer.from(moved.join(""));
}

/** Whole lines without their ends. */
async function linesOf(indexing: Indexing, part: PlannedPart): Promise<string[]> {
  const index = await indexing.bucket.read(`${indexing.folder}/${cdxjNameOf(part.segment)}`);
  const lines = index === undefined ? [] : Buffer.from(index).toString().split("\n");
  const sound = lines.length > 1 && lines.pop() === "" && lines.every((line) => speaksOf(part, cdxjPlace(line)));
  return sound ? lines : linesOfRecords(indexing, part);
}

function speaksOf({ segment, bytes }: PlannedPart, place: IndexedAt | undefined): boolean {
  return place !== undefined && place.segment === basename(segment) && place.offset + place.length <= bytes;
}

function movedLine(line: string, file: string, base: number): string {
  const json = line.indexOf("{");
  const fields = JSON.parse(line.slice(json));
  const moved = { ...fields, offset: String(Number(fields.offset) + base), filename: file };
  return `${line.slice(0, json)}${JSON.stringify(moved)}\n`;
}

/** The segment is read whole: a small one, and only where its worker ended before its index was written. */
async function linesOfRecords({ bucket, folder, log }: Indexing, part: PlannedPart): Promise<string[]> {
  const { segment } = part;
  const bytes = await bucket.read(`${folder}/${segment}`, { from: 0, length: part.bytes });
  if (bytes === undefined) throw new StoreError(`gs://${bucket.name}/${folder}/${segment} is gone, and has no index`);
  const lines: string[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const member = memberAt(bytes.subarray(offset));
    const record = typeof member === "string" ? undefined : parseWarcRecord(member.bytes);
    if (typeof member === "string" || !record?.ok) {
      log?.("error", "a segment has bytes that are no record; what lies behind them is not indexed", { segment, offset });
      break;
    }
    const fields = fieldsOf(record);
    if (fields) lines.push(cdxjLine(fields, { segment: basename(segment), offset, length: member.length }).trimEnd());
    offset += member.length;
  }
  return lines;
}
