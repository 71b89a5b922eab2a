// What are the bytes of one WARC record? WARC 1.1 (ISO 28500:2017), clauses 4 and 5.
import { createHash, hash } from "node:crypto";

export type Header = [name: string, value: string];

/**
 * The record: version line, the given headers, Content-Length, the block as it is, two line ends. Bytes that would end a line are
 * made spaces. The caller gives WARC-Type, WARC-Record-ID and WARC-Date.
 */
export function warcRecord(headers: readonly Header[], block: readonly Uint8Array[]): Uint8Array[] {
  const length = block.reduce((sum, part) => sum + part.length, 0);
  const lines = [...headers, ["Content-Length", String(length)]].map(([name, value]) => `${name}: ${oneLine(value!)}\r\n`);
  return [Buffer.from(`WARC/1.1\r\n${lines.join("")}\r\n`), ...block, recordEnd];
}

const recordEnd = Buffer.from("\r\n\r\n");

/** A value that cannot end its line: control characters become spaces, those at its ends go. */
export function oneLine(value: string): string {
  return (CONTROL.test(value) ? value.replace(CONTROL_ALL, " ") : value).trim();
}

const CONTROL = /[\x00-\x1f\x7f]/;
const CONTROL_ALL = /[\x00-\x1f\x7f]/g;

/** Unix ms as WARC-Date has it, with milliseconds. */
export function warcDate(at: number): string {
  return new Date(at).toISOString();
}

/** A WARC-Record-ID of a UUID, or of 128 bits as 22 characters of base64url (what ports/random.ts draws). */
export function recordId(id: string): string {
  return `<urn:uuid:${/^[\w-]{22}$/.test(id) ? uuidOf(id) : oneLine(id)}>`;
}

/** RFC 9562: six of the bits say that the others are random. */
function uuidOf(token: string): string {
  const bytes = Buffer.from(token, "base64url");
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** `sha1:` and base32, as WARC readers compare it. */
export function labelledDigest(parts: readonly Uint8Array[]): string {
  return `sha1:${base32(sha1(parts))}`;
}

/** Up to so many bytes a copy and one call take a third of the time of create, update and digest. */
const COPIED_BYTES_MAX = 64 * 1024;

/** A character for each byte (latin1, which node:crypto calls binary): a text costs a quarter of a buffer. */
function sha1(parts: readonly Uint8Array[]): string {
  if (parts.length === 1) return hash("sha1", parts[0]!, "binary");
  if (parts.reduce((sum, part) => sum + part.length, 0) <= COPIED_BYTES_MAX)
    return hash("sha1", Buffer.concat(parts), "binary");
  const digest = createHash("sha1");
  for (const part of parts) digest.update(part);
  return digest.digest("binary");
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"; // RFC 4648, 6

/** 20 bytes are 32 characters: no padding. */
function base32(latin1: string): string {
  let text = "";
  let held = 0;
  let bits = 0;
  for (let at = 0; at < latin1.length; at++) {
    held = ((held << 8) | latin1.charCodeAt(at)) & 0xfff;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(held >> (bits - 5)) & 31];
  }
  return text;
}
