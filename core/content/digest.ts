// What identifies a body or a set of links? Digests in the forms that records and WARC files carry.
import { hash } from "node:crypto";

const CONTENT_HASH_BYTES = 20; // as schemas/url-state.ts keeps it

/** The first 160 bits of SHA-256: what a body is known by in records, keys and events. */
export function contentHash(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(hash("sha256", bytes, "buffer").subarray(0, CONTENT_HASH_BYTES));
}

/** "sha1:" and 32 characters of base32 (RFC 4648 6), as WARC-Payload-Digest has it. */
export function sha1Base32(bytes: Uint8Array): string {
  return `sha1:${base32(hash("sha1", bytes, "buffer"))}`;
}

const LINK_SET_BYTES = 8;

/** 8 bytes of SHA-256 over the links as a set: neither their order nor a repetition matters. URLs hold no line feed. */
export function linkSetHash(links: readonly string[]): Uint8Array {
  const set = [...new Set(links)].sort().join("\n");
  return Uint8Array.from(hash("sha256", set, "buffer").subarray(0, LINK_SET_BYTES));
}

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Without padding; a SHA-1 needs none. */
function base32(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += BASE32[(buffer >>> (bits - 5)) & 31];
    buffer &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32[(buffer << (5 - bits)) & 31];
}
