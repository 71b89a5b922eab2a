// Which hashes hang together, by comparing every pair? Slow and plain, what the clusters are judged by; and the sets that try them.
import type { Halves } from "../../../core/clusters/bands.ts";

function bitCount(word: number): number {
  let count = 0;
  for (let rest = word; rest !== 0; rest &= rest - 1) count++;
  return count;
}

export function distance(one: Halves, other: Halves): number {
  return bitCount(one.high ^ other.high) + bitCount(one.low ^ other.low);
}

/** For each hash the smallest place that it is linked to, by links between places. */
export function components(size: number, links: Iterable<readonly [number, number]>): number[] {
  const parents = Array.from({ length: size }, (_, place) => place);
  const root = (place: number): number => {
    let at = place;
    while (parents[at] !== at) at = parents[at] = parents[parents[at]!]!;
    return at;
  };
  for (const [one, other] of links) {
    const [a, b] = [root(one), root(other)];
    parents[Math.max(a, b)] = Math.min(a, b);
  }
  return parents.map((_, place) => root(place));
}

export function* nearPairs(hashes: readonly Halves[], bits: number): Generator<[number, number]> {
  for (let one = 0; one < hashes.length; one++)
    for (let other = 0; other < one; other++) if (distance(hashes[one]!, hashes[other]!) <= bits) yield [one, other];
}

/** 32 bits a call, the same for the same seed (mulberry32). */
export function words(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), state | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return (bits ^ (bits >>> 14)) >>> 0;
  };
}

export function flipped({ high, low }: Halves, bit: number): Halves {
  return bit < 32 ? { high, low: (low ^ (1 << bit)) >>> 0 } : { high: (high ^ (1 << (bit - 32))) >>> 0, low };
}

function distinct(hashes: readonly Halves[]): Halves[] {
  return [...new Map(hashes.map((hash) => [`${hash.high}/${hash.low}`, hash])).values()];
}

type MakeSet = (next: () => number) => Halves[];

/** A third of them in groups around a common hash, members up to `bits` from it. */
const inGroups =
  (size: number, bits: number): MakeSet =>
  (next) => {
    const all: Halves[] = [];
    while (all.length < size) {
      const centre = { high: next(), low: next() };
      all.push(centre);
      const others = next() % 3 === 0 ? next() % 12 : 0;
      for (let other = 0; other < others; other++) {
        let member = centre;
        for (let flip = next() % (bits + 1); flip > 0; flip--) member = flipped(member, next() % 64);
        all.push(member);
      }
    }
    return distinct(all);
  };

/** All hashes that differ in these bits alone. */
const cube =
  (bits: readonly number[]): MakeSet =>
  (next) => {
    const corner = { high: next(), low: next() };
    return Array.from({ length: 2 ** bits.length }, (_, chosen) =>
      bits.reduce((hash, bit, at) => (chosen & (1 << at) ? flipped(hash, bit) : hash), corner),
    );
  };

/** Each hash three bits from the one before it, and far from all others in the end. */
const chain =
  (size: number): MakeSet =>
  (next) => {
    const all = [{ high: next(), low: next() }];
    while (all.length < size) {
      let hash = all.at(-1)!;
      for (let flip = 0; flip < 3; flip++) hash = flipped(hash, next() % 64);
      all.push(hash);
    }
    return distinct(all);
  };

/** In `bits` bits as many hashes as can stand at least four bits apart, greedily: no two are near, and all agree in most bits. */
const apart =
  (bits: number): MakeSet =>
  (next) => {
    const corner = { high: next(), low: next() };
    const taken: number[] = [];
    for (let value = 0; value < 2 ** bits; value++) if (taken.every((other) => bitCount(value ^ other) > 3)) taken.push(value);
    return taken.map((value) => ({ high: corner.high, low: (corner.low ^ value) >>> 0 }));
  };

/** A dense part and one outlier for each of the other bits: parts of bits that only outliers differ in part nothing. */
const outliers: MakeSet = (next) => {
  const dense = cube([0, 1, 2, 3, 4, 5, 6, 7])(next);
  return distinct([...dense, ...Array.from({ length: 40 }, (_, at) => flipped(dense[at]!, 12 + at))]);
};

export const sets: readonly [name: string, make: MakeSet][] = [
  ["hashes of chance alone", inGroups(800, 0)],
  ["groups within three bits of a centre", inGroups(800, 3)],
  ["groups within five bits of a centre", inGroups(800, 5)],
  ["a cube of 10 low bits", cube([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])],
  ["a cube of bits of all blocks", cube([0, 7, 13, 26, 31, 32, 39, 47, 52, 63])],
  ["a chain of 600", chain(600)],
  ["hashes four bits apart in the lowest 14", apart(14)],
  ["a dense part with outliers", outliers],
];
