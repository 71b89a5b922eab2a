// Where does a stored record lie now? In its segment's own object, or, by the segment table, inside a larger one.
import type { StoredAt } from "../../../ports/archive.ts";
import { type RecordTable, StoreError } from "../../../ports/versioned-table.ts";
import type { SegmentPlace } from "../../../schemas/segment.ts";
import { gunzipMember } from "../gzip-members.ts";
import type { ObjectBucket } from "./bucket.ts";

export interface StoredObjects {
  bucket: ObjectBucket;
  folder: string;
  segments: RecordTable<SegmentPlace>;
}

const SEGMENT = /^dt=\d{4}-\d\d-\d\d\/[\w-]+\.warc\.gz$/;

/** A stored record's bytes; needs no archive, so that tools read while a crawl writes. Rejects with StoreError. */
export async function readStoredObject(stored: StoredObjects, at: StoredAt): Promise<Uint8Array> {
  if (!SEGMENT.test(at.segment)) throw new StoreError(`no segment is called '${at.segment}'`, { final: true });
  const member = await readMember(stored, at);
  const where = `${at.length} bytes at ${at.offset} of ${at.segment} in gs://${stored.bucket.name}/${stored.folder}`;
  if (member === undefined)
    throw new StoreError(`cannot read ${where}: no object holds it any more; has a lifecycle rule deleted it?`);
  try {
    if (member.length < at.length) throw new Error(`the object ends after ${member.length} of them`);
    return await gunzipMember(member);
  } catch (cause) {
    throw new StoreError(`cannot read ${where}`, { cause });
  }
}

/**
 * Compaction writes the row before it deletes the object: whoever found no row, and then no object, finds the row now.
 */
async function readMember({ bucket, folder, segments }: StoredObjects, at: StoredAt): Promise<Uint8Array | undefined> {
  const readAt = ({ object, base }: SegmentPlace) =>
    bucket.read(`${folder}/${object}`, { from: base + at.offset, length: at.length });
  const placed = async () => (await segments.get([at.segment]))[0]?.value;
  const place = await placed();
  if (place !== undefined) return readAt(place);
  const member = await readAt({ object: at.segment, base: 0 });
  if (member !== undefined) return member;
  const placedSince = await placed();
  return placedSince && readAt(placedSince);
}
