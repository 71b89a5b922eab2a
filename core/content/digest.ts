// What identifies a body or a set of links? Digests in the forms that records carry.
import { hash } from "node:crypto";

const CONTENT_HASH_BYTES = 20; // as schemas/url-state.ts keeps it

/** The first 160 bits of SHA-256: what a body is known by in records, keys and events. */
export function contentHash(bytes: Uint8Array): Uint8Array {
  return firstBytes(hash("sha256", bytes, "binary"), CONTENT_HASH_BYTES);
}

const LINK_SET_BYTES = 8;

/** 8 bytes of SHA-256 over the links as a set: neither their order nor a repetition matters. URLs hold no line feed. */
export function linkSetHash(links: readonly string[]): Uint8Array {
  const set = [...new Set(links)].sort().join("\n");
  return firstBytes(hash("sha256", set, "binary"), LINK_SET_BYTES);
}

const NUMBER_DIGITS = 12; // hex digits of 48 bits, which a number holds exactly

/** The first 48 bits of SHA-256 of the text as a whole number, the first bit its highest. */
export function digestNumber(text: string): number {
  return Number.parseInt(hash("sha256", text, "hex").slice(0, NUMBER_DIGITS), 16);
}

/** A digest comes as text, since one in bytes is a buffer of its own, at three to four times the cost of the hash itself. */
function firstBytes(latin1: string, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at++) bytes[at] = latin1.charCodeAt(at);
  return bytes;
}
