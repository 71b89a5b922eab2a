// Which hashes of one bucket belong together? Groups in which each hash is a near-duplicate of another; no pair within reach is parted.
import { bandOf, firstTable, type Halves, NEAR_BITS } from "./bands.ts";

/** Distinct hashes; grows by doubling, 8 bytes a hash. */
export interface HashList {
  high: Uint32Array;
  low: Uint32Array;
  size: number;
}

export function newHashList(): HashList {
  return { high: new Uint32Array(FIRST_SLOTS), low: new Uint32Array(FIRST_SLOTS), size: 0 };
}

const FIRST_SLOTS = 4;

export function addHash(list: HashList, { high, low }: Halves): void {
  if (list.size === list.high.length) {
    list.high = doubled(list.high);
    list.low = doubled(list.low);
  }
  list.high[list.size] = high;
  list.low[list.size++] = low;
}

function doubled(from: Uint32Array): Uint32Array {
  const to = new Uint32Array(from.length * 2);
  to.set(from);
  return to;
}

const HASH_BYTES = 8;

/** 8 bytes a hash, its low half first, the lowest byte of each first. */
export function packed({ high, low, size }: HashList): Uint8Array {
  const bytes = new Uint8Array(size * HASH_BYTES);
  const view = new DataView(bytes.buffer);
  for (let place = 0; place < size; place++) {
    view.setUint32(place * HASH_BYTES, low[place]!, true);
    view.setUint32(place * HASH_BYTES + 4, high[place]!, true);
  }
  return bytes;
}

/** What was packed; bytes that are no whole hash are left out. */
export function addPacked(list: HashList, bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + HASH_BYTES <= bytes.length; at += HASH_BYTES)
    addHash(list, { low: view.getUint32(at, true), high: view.getUint32(at + 4, true) });
}

/** Up to so many, all pairs are compared: 500 pairs cost less than to part them. */
const PAIRS_MAX = 32;

/**
 * For each hash the place of the smallest hash of its group. Two hashes within NEAR_BITS of each other are in one group; with a `table`, those
 * which agree in that table's band, and of few in a band those whose first such table it is, so that one table links them. In a fuller
 * band every pair is taken, since a group that is whole already needs no more comparing. Memory beside the list: some 32 bytes a hash.
 */
export function nearGroups(list: HashList, table?: number): Int32Array {
  const search: Search = { list, parents: places(list.size), table };
  const all = places(list.size);
  if (table === undefined) join(search, all);
  else for (const band of alikeIn(all, (place) => bandOf(halvesAt(list, place), table))) join(search, band);
  return smallest(search);
}

interface Search {
  list: HashList;
  /** A forest: each place's parent, a root's is itself. */
  parents: Int32Array;
  table: number | undefined;
}

/** The hash at that place. */
export function halvesAt({ high, low }: HashList, place: number): Halves {
  return { high: high[place]!, low: low[place]! };
}

function places(size: number): Int32Array {
  const numbers = new Int32Array(size);
  for (let place = 0; place < size; place++) numbers[place] = place;
  return numbers;
}

/**
 * Joins all near pairs among `members`. The bits in which members differ are dealt into four parts; three differing bits leave one part
 * equal, so it is enough to look among those that agree in a part, for each part. There the bits of the part no longer differ: 39 bits are
 * used up after nine steps at most.
 */
function join(search: Search, members: Int32Array): void {
  if (members.length <= PAIRS_MAX) return joinPairs(search, members);
  const full = { ...search, table: undefined };
  for (const part of parts(search.list, members)) {
    if (isWhole(search, members)) return;
    for (const alike of alikeIn(members, (place) => bitsAt(search.list, place, part))) join(full, alike);
  }
}

function joinPairs({ list: { high, low }, parents, table }: Search, members: Int32Array): void {
  for (let one = 1; one < members.length; one++) {
    const place = members[one]!;
    for (let other = 0; other < one; other++) {
      const highBits = high[place]! ^ high[members[other]!]!;
      const lowBits = low[place]! ^ low[members[other]!]!;
      if (!withinBits(highBits, lowBits, NEAR_BITS)) continue;
      if (table === undefined || firstTable(highBits, lowBits) === table) unite(parents, place, members[other]!);
    }
  }
}

/** Whether no more than so many bits are set: clears the lowest so often. */
export function withinBits(highBits: number, lowBits: number, most: number): boolean {
  let [high, low] = [highBits, lowBits];
  for (let bit = 0; bit < most; bit++) {
    if (low !== 0) low &= low - 1;
    else high &= high - 1;
  }
  return (high | low) === 0;
}

function isWhole({ parents }: Search, members: Int32Array): boolean {
  const root = rootOf(parents, members[0]!);
  return members.every((place) => rootOf(parents, place) === root);
}

const PARTS = NEAR_BITS + 1;
const SAMPLES = 256; // members whose bits are counted to find out which bits part them best

/** The bit numbers of each part; the bits that part the members best are dealt first, so that every part has its share of them. */
function parts(list: HashList, members: Int32Array): number[][] {
  const dealt: number[][] = Array.from({ length: PARTS }, () => []);
  const ones = countOnes(list, members);
  const sampled = Math.min(members.length, SAMPLES);
  const balance = (bit: number) => Math.abs(2 * ones[bit]! - sampled);
  const bits = varyingBits(list, members).sort((one, other) => balance(one) - balance(other) || one - other);
  for (const [at, bit] of bits.entries()) dealt[at % PARTS]!.push(bit);
  return dealt;
}

function countOnes(list: HashList, members: Int32Array): Int32Array {
  const ones = new Int32Array(64);
  const sampled = Math.min(members.length, SAMPLES);
  for (let sample = 0; sample < sampled; sample++) {
    const place = members[Math.floor((sample * members.length) / sampled)]!;
    for (let bit = 0; bit < 64; bit++) ones[bit]! += bitAt(list, place, bit);
  }
  return ones;
}

function varyingBits({ high, low }: HashList, members: Int32Array): number[] {
  const first = members[0]!;
  let [ofHigh, ofLow] = [0, 0];
  for (const place of members) {
    ofHigh |= high[place]! ^ high[first]!;
    ofLow |= low[place]! ^ low[first]!;
  }
  const varies = (bit: number) => ((bit < 32 ? ofLow >>> bit : ofHigh >>> (bit - 32)) & 1) === 1;
  return Array.from({ length: 64 }, (_, bit) => bit).filter(varies);
}

function bitAt({ high, low }: HashList, place: number, bit: number): number {
  return (bit < 32 ? low[place]! >>> bit : high[place]! >>> (bit - 32)) & 1;
}

function bitsAt(list: HashList, place: number, bits: readonly number[]): number {
  let value = 0;
  for (const bit of bits) value = (value << 1) | bitAt(list, place, bit);
  return value;
}

const PLACES_MAX = 2 ** 26; // with a value below 2^26 they fit into 53 bits

/** Those members whose values, below 2^26, are the same; who is alone with its value is left out. */
function* alikeIn(members: Int32Array, valueAt: (place: number) => number): Generator<Int32Array> {
  const sorted = new Float64Array(members.length); // numbers sort many times as fast as by a comparison of ours
  for (let at = 0; at < members.length; at++) sorted[at] = valueAt(members[at]!) * PLACES_MAX + members[at]!;
  sorted.sort();
  const valueIn = (at: number) => Math.floor(sorted[at]! / PLACES_MAX);
  for (let from = 0, to = 0; from < sorted.length; from = to) {
    while (to < sorted.length && valueIn(to) === valueIn(from)) to++;
    if (to - from > 1) yield Int32Array.from(sorted.subarray(from, to), (both) => both % PLACES_MAX);
  }
}

function rootOf(parents: Int32Array, from: number): number {
  let place = from;
  while (parents[place] !== place) {
    parents[place] = parents[parents[place]!]!; // halves the way of those who come after
    place = parents[place]!;
  }
  return place;
}

function unite(parents: Int32Array, one: number, other: number): void {
  const [a, b] = [rootOf(parents, one), rootOf(parents, other)];
  if (a < b) parents[b] = a;
  else parents[a] = b;
}

function smallest({ list: { high, low, size }, parents }: Search): Int32Array {
  const least = places(size);
  for (let place = 0; place < size; place++) {
    const root = rootOf(parents, place);
    const so = least[root]!;
    if (high[place]! < high[so]! || (high[place] === high[so] && low[place]! < low[so]!)) least[root] = place;
  }
  return places(size).map((place) => least[rootOf(parents, place)]!);
}
