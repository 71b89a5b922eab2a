// Where do the members of a gzip file end, and which are whole? RFC 1952, and the sync-or-pool choice for compressing.
import { promisify } from "node:util";
import { crc32, gunzip, gunzipSync, gzip, gzipSync, inflateRawSync } from "node:zlib";
import { StoreError } from "../../ports/versioned-table.ts";
import type { FileLayer } from "./file-layer.ts";

/**
 * Measured on 29 KB pages: level 3 costs 0.24 ms and packs 3.65 to 1, level 6 costs 0.38 ms for 3.90 to 1. The thread pool costs
 * another 0.15 to 0.2 ms of CPU a page, so only larger pieces, which would hold the event loop for milliseconds, go there.
 */
export const COMPRESSION_LEVEL = 3;
const INLINE_BYTES = 128 * 1024;
/** A larger member is taken for damage; five times the largest body that is fetched, a sitemap. */
const MEMBER_BYTES_MAX = 256 * 1024 * 1024;

const gzipInPool = promisify<Uint8Array, { level: number }, Buffer>(gzip);
const gunzipInPool = promisify<Uint8Array, { maxOutputLength: number }, Buffer>(gunzip);

/** One member of all the bytes. Rejects with StoreError above MEMBER_BYTES_MAX. */
export async function gzipMember(parts: readonly Uint8Array[], level: number): Promise<Uint8Array> {
  const whole = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  if (whole.length > MEMBER_BYTES_MAX)
    throw new StoreError(`a record of ${whole.length} bytes; at most ${MEMBER_BYTES_MAX} are kept`);
  return whole.length <= INLINE_BYTES ? gzipSync(whole, { level }) : gzipInPool(whole, { level });
}

/** Rejects where the bytes are not one or more whole members. */
export async function gunzipMember(bytes: Uint8Array): Promise<Uint8Array> {
  const options = { maxOutputLength: MEMBER_BYTES_MAX };
  return bytes.length <= INLINE_BYTES ? gunzipSync(bytes, options) : gunzipInPool(bytes, options);
}

export interface Member {
  offset: number;
  length: number;
  /** Decompressed. */
  bytes: Uint8Array;
}

const WINDOW_BYTES = 4 * 1024 * 1024; // read at a time; doubled for a member that is longer

/** The members from `from` on, up to the first that is not whole or to the end. Each is checked in full. */
export async function* wholeMembers(files: FileLayer, path: string, from: number): AsyncGenerator<Member> {
  const size = (await files.size(path)) ?? 0;
  let window = { offset: from, bytes: await files.read(path, from, WINDOW_BYTES) };
  let offset = from;
  while (offset < size) {
    const member = memberAt(window.bytes.subarray(offset - window.offset));
    if (member === "broken") return;
    if (member !== "short") {
      yield { ...member, offset };
      offset += member.length;
      continue;
    }
    const seen = window.offset + window.bytes.length;
    const wanted = offset === window.offset ? window.bytes.length * 2 : WINDOW_BYTES;
    if (seen >= size || wanted > MEMBER_BYTES_MAX) return;
    window = { offset, bytes: await files.read(path, offset, wanted) };
  }
}

const TRAILER_BYTES = 8;

/** The member that begins the bytes; `short` where they end before it does. */
export function memberAt(bytes: Uint8Array): { length: number; bytes: Uint8Array } | "short" | "broken" {
  const header = headerLength(bytes);
  if (typeof header === "string") return header;
  const inflated = inflate(bytes.subarray(header));
  if (typeof inflated === "string") return inflated;
  const trailer = header + inflated.read;
  if (bytes.length < trailer + TRAILER_BYTES) return "short";
  const view = new DataView(bytes.buffer, bytes.byteOffset + trailer, TRAILER_BYTES);
  const sound =
    view.getUint32(0, true) === crc32(inflated.bytes) && view.getUint32(4, true) === inflated.bytes.length % 2 ** 32;
  return sound ? { length: trailer + TRAILER_BYTES, bytes: inflated.bytes } : "broken";
}

const FLAG = { crc: 2, extra: 4, name: 8, comment: 16 };

/** Ours have the shortest header; other writers add a name, a comment, or their own fields. */
function headerLength(bytes: Uint8Array): number | "short" | "broken" {
  if (bytes.length < 10) return "short";
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8) return "broken";
  const flags = bytes[3]!;
  let at = 10;
  if (flags & FLAG.extra) at += 2 + (bytes[at] ?? 0) + (bytes[at + 1] ?? 0) * 256;
  for (const flag of [FLAG.name, FLAG.comment]) {
    if (!(flags & flag)) continue;
    const end = bytes.indexOf(0, at);
    if (end < 0) return "short";
    at = end + 1;
  }
  if (flags & FLAG.crc) at += 2;
  return at < bytes.length ? at : "short";
}

function inflate(bytes: Uint8Array): { bytes: Uint8Array; read: number } | "short" | "broken" {
  try {
    // `info` also returns the engine, which counts the bytes it took; the types leave that out
    const result = inflateRawSync(bytes, { info: true, maxOutputLength: MEMBER_BYTES_MAX, chunkSize: 64 * 1024 });
    const { buffer, engine } = result as unknown as { buffer: Buffer; engine: { bytesWritten: number } };
    return { bytes: buffer, read: engine.bytesWritten };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "Z_BUF_ERROR" ? "short" : "broken";
  }
}
