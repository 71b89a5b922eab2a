// How does an iterable stand on the wire? With its count, or in blocks; the rest may be kept by the runner (beam_runner_api.proto, STATE_BACKED_ITERABLE).
import { WireCut, WireError, WireReader } from "./wire-bytes.ts";
import type { WireCoder } from "./wire-coders.ts";

/** An array where there are few. Else the elements are read from their bytes each time that they are iterated. */
export interface WireIterable extends Iterable<unknown> {
  /** What the runner keeps: asked for by the token, in the nested encoding of this coder. */
  readonly rest?: { readonly token: Uint8Array; readonly of: WireCoder };
}

/** Elements that are held decoded: a small iterable is read once, not twice. */
const HELD_MAX = 1024;
const IN_BLOCKS = 2 ** 32 - 1; // -1: blocks, each with its own count, the last one empty
const KEPT_BY_RUNNER = -1n; // in place of the empty block

/** Throws WireError. */
export function readIterable(reader: WireReader, of: WireCoder, stateBacked: boolean): WireIterable {
  const from = reader.at;
  const held: unknown[] = [];
  let count = 0;
  const token = walk(reader, of, stateBacked, (value) => {
    if (++count <= HELD_MAX) held.push(value);
  });
  const rest = token && { token, of };
  if (count <= HELD_MAX) return rest === undefined ? held : { rest, [Symbol.iterator]: () => held.values() };
  const bytes = reader.viewFrom(from);
  return { ...(rest && { rest }), [Symbol.iterator]: () => elements(new WireReader(bytes), of) };
}

/** The elements of a page of what the runner keeps; what is left of the last one comes before the next page. Throws WireError. */
export function readPage(bytes: Buffer, of: WireCoder): { values: unknown[]; left: Buffer } {
  const reader = new WireReader(bytes);
  const values: unknown[] = [];
  while (reader.left > 0) {
    const from = reader.at;
    try {
      values.push(of.read(reader));
    } catch (error) {
      if (!(error instanceof WireCut)) throw error;
      return { values, left: bytes.subarray(from) };
    }
  }
  return { values, left: bytes.subarray(bytes.length) };
}

/** Returns the token of what is kept by the runner, if any. */
function walk(reader: WireReader, of: WireCoder, stateBacked: boolean, give: (value: unknown) => void): Buffer | undefined {
  for (let block = firstBlock(reader); ; ) {
    for (let left = block.count; left > 0; left--) give(of.read(reader));
    if (block.last) return undefined;
    block = nextBlock(reader);
    if (block.count >= 0) continue;
    if (!stateBacked) throw new WireError("an iterable with a block of a negative count");
    return reader.bytes();
  }
}

function* elements(reader: WireReader, of: WireCoder): Generator<unknown> {
  for (let block = firstBlock(reader); block.count >= 0; block = nextBlock(reader)) {
    for (let left = block.count; left > 0; left--) yield of.read(reader);
    if (block.last) return;
  }
}

interface Block {
  /** Negative where the rest is kept by the runner. */
  count: number;
  last: boolean;
}

function firstBlock(reader: WireReader): Block {
  const count = reader.word();
  return count === IN_BLOCKS ? { count: 0, last: false } : { count: plausible(reader, count), last: true };
}

function nextBlock(reader: WireReader): Block {
  const count = reader.int64();
  if (count === KEPT_BY_RUNNER) return { count: -1, last: true };
  if (count < 0n) throw new WireError("an iterable with a block of a negative count");
  return { count: plausible(reader, Number(count)), last: count === 0n };
}

function plausible(reader: WireReader, count: number): number {
  // Elements of no bytes are windows alone, of which there is one; so a count beyond what is left is not gone through in vain.
  if (count > reader.left + 1) throw new WireCut(`${count} elements in ${reader.left} bytes`);
  return count;
}
