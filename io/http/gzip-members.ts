// Which bytes do the gzip members at the head of this data hold, whatever follows them? RFC 1952.
import { crc32, type InflateRaw, inflateRawSync } from "node:zlib";

/**
 * node:zlib fails on bytes after the last member and loses what came before; servers do append such bytes (a comment, a newline).
 * Throws where the first member is damaged, and zlib's ERR_BUFFER_TOO_LARGE beyond `bytesMax`.
 */
export function gunzipMembers(data: Buffer, bytesMax: number): Buffer {
  const members: Buffer[] = [];
  let total = 0;
  let at = 0;
  while (startsMember(data, at)) {
    const start = headerEnd(data, at);
    const { buffer, engine } = inflateRawSync(data.subarray(start), {
      info: true,
      maxOutputLength: Math.max(1, bytesMax - total),
    }) as unknown as { buffer: Buffer; engine: InflateRaw };
    at = start + engine.bytesWritten;
    if (at + TRAILER_BYTES > data.length || data.readUInt32LE(at) !== crc32(buffer)) throw new Error("gzip checksum is wrong");
    if (data.readUInt32LE(at + 4) !== buffer.length % 2 ** 32) throw new Error("gzip length is wrong");
    at += TRAILER_BYTES;
    total += buffer.length;
    members.push(buffer);
    if (members.length > MEMBERS) throw new Error(`more than ${MEMBERS} gzip members before trailing bytes`);
  }
  return Buffer.concat(members);
}

/** RFC 1952 2.3.1: ID1, ID2, and deflate as the method. */
export function startsMember(data: Buffer, at = 0): boolean {
  return data[at] === 0x1f && data[at + 1] === 0x8b && data[at + 2] === 8;
}

const MEMBERS = 256; // each costs some microseconds of the event loop
const TRAILER_BYTES = 8; // CRC-32 and length
const FIXED_BYTES = 10;
const flags = { headerCrc: 2, extra: 4, name: 8, comment: 16 };

function headerEnd(data: Buffer, at: number): number {
  const flag = data[at + 3] ?? 0;
  let end = at + FIXED_BYTES;
  if (flag & flags.extra) end += 2 + (data[end] ?? 0) + 256 * (data[end + 1] ?? 0);
  if (flag & flags.name) end = afterZero(data, end);
  if (flag & flags.comment) end = afterZero(data, end);
  if (flag & flags.headerCrc) end += 2;
  return end;
}

function afterZero(data: Buffer, from: number): number {
  const zero = data.indexOf(0, from);
  return zero < 0 ? data.length : zero + 1;
}
