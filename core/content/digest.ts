// What identifies a body or a set of links? Digests in the forms that records carry.
import { hash } from "node:crypto";

const CONTENT_HASH_BYTES = 20; // as schemas/url-state.ts keeps it

/** The first 160 bits of SHA-256: what a body is known by in records, keys and events. */
export function contentHash(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(hash("sha256", bytes, "buffer").subarray(0, CONTENT_HASH_BYTES));
}

const LINK_SET_BYTES = 8;

/** 8 bytes of SHA-256 over the links as a set: neither their order nor a repetition matters. URLs hold no line feed. */
export function linkSetHash(links: readonly string[]): Uint8Array {
  const set = [...new Set(links)].sort().join("\n");
  return Uint8Array.from(hash("sha256", set, "buffer").subarray(0, LINK_SET_BYTES));
}
