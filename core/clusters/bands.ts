// Which documents have to be compared? Those that share a band of their SimHash: five blocks, any two of them equal (Manku et al., 2007, 3.1).

/** In how many of 64 bits near-duplicates differ at most (Manku et al., 2007, section 4.1). */
export const NEAR_BITS = 3;

/** The bits `from` to `from + size - 1` of a hash; bit 0 is the lowest. */
interface Block {
  from: number;
  size: number;
}

/** Three differing bits lie in three of five blocks at most, so that two blocks are equal: ten tables of 25 or 26 bits. */
const blocks: readonly Block[] = [
  { from: 0, size: 13 },
  { from: 13, size: 13 },
  { from: 26, size: 13 },
  { from: 39, size: 13 },
  { from: 52, size: 12 },
];

const pairs = combinations(blocks, 2);
export const TABLES = pairs.length;

const BAND_BITS = 26;

/** Hashes under one key of a grouping, as many as are compared at once at little cost: 3 MB. Under fewer keys more of them travel together. */
const HASHES_A_KEY = 2 ** 17;

const KEY_BITS_LEAST = 4; // 160 keys: enough for all workers that so few documents need
const KEY_BITS_MOST = BAND_BITS;

/** How much of a band is in a key, in bits, for so many documents. */
export function keyBitsFor(documents: number): number {
  const bits = Math.ceil(Math.log2(Math.max(1, documents) / HASHES_A_KEY));
  return Math.min(Math.max(bits, KEY_BITS_LEAST), KEY_BITS_MOST);
}

/** A hash as two halves of 32 bits, each 0 to 2^32 - 1. */
export interface Halves {
  high: number;
  low: number;
}

/** Of 16 hex digits. */
export function halvesOf(hash: string): Halves {
  return { high: Number.parseInt(hash.slice(0, 8), 16), low: Number.parseInt(hash.slice(8), 16) };
}

/** 16 lower-case hex digits. */
export function hashOf({ high, low }: Halves): string {
  return high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0");
}

/** What a hash has in the two blocks of a table, 0 to 2^26 - 1. Two hashes within NEAR_BITS of each other agree in one table at least. */
export function bandOf(hash: Halves, table: number): number {
  return chosenBits(hash, pairs[table]!);
}

/** The key of a table that a hash belongs to: the table, and the beginning of the band. */
export function bandKey(hash: Halves, table: number, keyBits: number): string {
  return `${table}${TABLE_MARK}${bandOf(hash, table) >>> (BAND_BITS - keyBits)}`;
}

const TABLE_MARK = ".";

/** Of a key that bandKey gave. */
export function tableOf(key: string): number {
  return Number.parseInt(key, 10);
}

/** The first of the tables in which two hashes meet that differ in these bits, so that one table alone needs to name the pair; -1: in none. */
export function firstTable(highBits: number, lowBits: number): number {
  let equal = 0;
  for (let block = 0; block < blocks.length; block++)
    if (bitsOf({ high: highBits, low: lowBits }, blocks[block]!) === 0) equal |= 1 << block;
  return firstTables[equal]!;
}

const firstTables = Int8Array.from({ length: 2 ** blocks.length }, (_, equal) =>
  pairs.findIndex((pair) => pair.every((block) => equal & (1 << blocks.indexOf(block)))),
);

/**
 * The keys under which the members of a crowded band are parted once more: the three blocks that are not the band's are halved, and any
 * three of the six halves are equal between near-duplicates. What such a key leaves open is 21 bits at most, so that no more than 2^21
 * distinct hashes can stand under it.
 */
export function narrowKeys(hash: Halves, table: number): string[] {
  const band = (table * 2 ** BAND_BITS + bandOf(hash, table)).toString(36);
  return narrower[table]!.map(
    (halves, number) => `${band}.${(number * NARROW_VALUES + chosenBits(hash, halves)).toString(36)}`,
  );
}

const NARROW_VALUES = 2 ** 21;
const narrower = pairs.map((pair) => combinations(blocks.filter((block) => !pair.includes(block)).flatMap(halved), NEAR_BITS));

function halved({ from, size }: Block): Block[] {
  const first = Math.ceil(size / 2);
  return [
    { from, size: first },
    { from: from + first, size: size - first },
  ];
}

/** All ways to choose `count` of the items, in the order of the items. */
function combinations<T>(items: readonly T[], count: number): T[][] {
  if (count === 0) return [[]];
  return items.flatMap((item, at) => combinations(items.slice(at + 1), count - 1).map((rest) => [item, ...rest]));
}

function chosenBits(hash: Halves, chosen: readonly Block[]): number {
  let value = 0;
  for (const block of chosen) value = value * 2 ** block.size + bitsOf(hash, block);
  return value;
}

/** 0 to 2^13 - 1. */
function bitsOf({ high, low }: Halves, { from, size }: Block): number {
  const mask = (1 << size) - 1;
  if (from >= 32) return (high >>> (from - 32)) & mask;
  const ofLow = low >>> from;
  return (from + size > 32 ? ofLow | (high << (32 - from)) : ofLow) & mask;
}
