// How many distinct things were seen? HyperLogLog (Flajolet et al., 2007) in at most sketchBytesMax bytes; seeing one twice changes nothing.
import { digestNumber } from "../content/digest.ts";

/** Bytes of a sketch; an empty array is the empty one. Equal sets give equal bytes, in whatever order they were seen. */
export type Sketch = Uint8Array;

const INDEX_BITS = 9;
const REGISTERS = 1 << INDEX_BITS; // standard error 1.04 / sqrt(512) = 4.6 %
const RANK_MAX = 15; // four bits a register: estimates reach some 8 million
const ENTRY_BYTES = 2; // of a sparse sketch: the register in the upper 12 bits, its rank in the lower four
const ENTRIES_MAX = 96; // a sparse sketch of more is no smaller than a full one by enough to matter
const SPARSE = 0;
const FULL = 1;

export const sketchBytesMax = 1 + REGISTERS / 2;

/** The sketch with an item; the same object where the item changes nothing. Items are texts, such as URL ids. */
export function sketchWith(sketch: Sketch, item: string): Sketch {
  const { register, rank } = placeOf(item);
  if (rankAt(sketch, register) >= rank) return sketch;
  if (sketch[0] === FULL && sketch.length === sketchBytesMax) return withNibble(sketch, register, rank);
  const ranks = ranksOf(sketch);
  ranks[register] = rank;
  return packed(ranks);
}

/** The sketch of everything that either has seen; the first object where the second adds nothing. */
export function sketchUnion(sketch: Sketch, other: Sketch): Sketch {
  const ranks = ranksOf(sketch);
  let changed = false;
  ranksOf(other).forEach((rank, register) => {
    if (rank <= (ranks[register] ?? 0)) return;
    ranks[register] = rank;
    changed = true;
  });
  return changed ? packed(ranks) : sketch;
}

/** The number of distinct items, within 5 % two times in three; small numbers are nearly exact. */
export function sketchEstimate(sketch: Sketch): number {
  if (sketch[0] !== FULL) return linearCount(REGISTERS - Math.min(ENTRIES_MAX, sketch.length >> 1));
  let zeros = 0;
  let sum = 0;
  for (const rank of ranksOf(sketch)) {
    if (rank === 0) zeros++;
    sum += SHARES[rank] ?? 0;
  }
  const raw = (ALPHA * REGISTERS * REGISTERS) / sum;
  // Below this the share of empty registers tells more than their ranks.
  return raw <= 2.5 * REGISTERS && zeros > 0 ? linearCount(zeros) : Math.round(raw);
}

/** Whang et al., 1990. */
function linearCount(zeros: number): number {
  return Math.round(REGISTERS * Math.log(REGISTERS / zeros));
}

const SHARES = Float64Array.from({ length: RANK_MAX + 1 }, (_, rank) => 2 ** -rank);
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);

function placeOf(item: string): { register: number; rank: number } {
  const digest = digestNumber(`sketch ${item}`);
  const register = Math.floor(digest / 2 ** 32) & (REGISTERS - 1);
  return { register, rank: Math.min(RANK_MAX, Math.clz32(digest) + 1) }; // of the lower 32 bits
}

function rankAt(sketch: Sketch, register: number): number {
  if (sketch[0] === FULL) return nibble(sketch, register);
  // Entries are in the order of their registers.
  let low = 0;
  let high = sketch.length >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    const entry = entryAt(sketch, middle);
    if (entry >> 4 === register) return entry & 15;
    if (entry >> 4 < register) low = middle + 1;
    else high = middle;
  }
  return 0;
}

/** Bytes of another make give some ranks, never an error: a count is a hint. */
function ranksOf(sketch: Sketch): Uint8Array {
  const ranks = new Uint8Array(REGISTERS);
  if (sketch[0] === FULL) {
    for (let register = 0; register < REGISTERS; register++) ranks[register] = nibble(sketch, register);
    return ranks;
  }
  for (let index = 0; index < sketch.length >> 1 && index < REGISTERS; index++) {
    const entry = entryAt(sketch, index);
    ranks[(entry >> 4) & (REGISTERS - 1)] = entry & 15;
  }
  return ranks;
}

function nibble(sketch: Sketch, register: number): number {
  const byte = sketch[1 + (register >> 1)] ?? 0;
  return (register & 1) === 0 ? byte >> 4 : byte & 15;
}

function withNibble(sketch: Sketch, register: number, rank: number): Sketch {
  const next = sketch.slice();
  const at = 1 + (register >> 1);
  const byte = next[at] ?? 0;
  next[at] = (register & 1) === 0 ? (rank << 4) | (byte & 15) : (byte & 0xf0) | rank;
  return next;
}

function entryAt(sketch: Sketch, index: number): number {
  const at = 1 + ENTRY_BYTES * index;
  return ((sketch[at] ?? 0) << 8) | (sketch[at + 1] ?? 0);
}

function packed(ranks: Uint8Array): Sketch {
  let entries = 0;
  for (const rank of ranks) if (rank > 0) entries++;
  return entries <= ENTRIES_MAX ? packedSparse(ranks, entries) : packedFull(ranks);
}

function packedSparse(ranks: Uint8Array, entries: number): Sketch {
  const sketch = new Uint8Array(1 + ENTRY_BYTES * entries);
  sketch[0] = SPARSE;
  let at = 1;
  for (let register = 0; register < REGISTERS; register++) {
    const rank = ranks[register] ?? 0;
    if (rank === 0) continue;
    sketch[at++] = register >> 4;
    sketch[at++] = ((register & 15) << 4) | rank;
  }
  return sketch;
}

function packedFull(ranks: Uint8Array): Sketch {
  const sketch = new Uint8Array(sketchBytesMax);
  sketch[0] = FULL;
  for (let register = 0; register < REGISTERS; register += 2)
    sketch[1 + (register >> 1)] = ((ranks[register] ?? 0) << 4) | (ranks[register + 1] ?? 0);
  return sketch;
}
