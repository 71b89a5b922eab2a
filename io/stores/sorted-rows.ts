// How do millions of rows stay in the order of their keys' UTF-8 bytes while they come and go at any place? Sorted blocks, and a map.
import type { Row } from "../../ports/versioned-table.ts";
import type { RowKey } from "../../schemas/row-key.ts";

export interface SortedRows {
  get(key: RowKey): Row | undefined;
  /** Puts the row in its place, instead of what stood there. */
  set(row: Row): void;
  /** Whether it was there. */
  delete(key: RowKey): boolean;
  scan(range: { from: RowKey; to: RowKey; limit: number }): Row[];
}

/** Where a row stands for both: the map finds it by its key, the blocks hold it in order. */
interface Stand {
  row: Row;
}

/** A run of rows; `keys` are order keys. Every key of a block is smaller than every key of the next one. */
interface Block {
  keys: string[];
  stands: Stand[];
}

// Inserting moves at most BLOCK_ROWS entries, and the list of blocks once in BLOCK_ROWS / 2 inserts: at ten million rows that list has
// some 60,000 entries. Measured on 300,000 rows that come and go, 256 takes four fifths of the time of 512, and no more than 128.
const BLOCK_ROWS = 256;
const BLOCK_ROWS_MIN = 64; // a smaller one joins its neighbour where both fit, so that deletes leave no trail of near-empty blocks

export function sortedRows(): SortedRows {
  const blocks: Block[] = [{ keys: [], stands: [] }];
  const byKey = new Map<RowKey, Stand>();
  return {
    get: (key) => byKey.get(key)?.row,
    set(row) {
      const standing = byKey.get(row.key);
      if (standing !== undefined) {
        standing.row = row;
        return;
      }
      const stand = { row };
      byKey.set(row.key, stand);
      const own = orderKey(row.key);
      const { block, blockAt, at } = find(blocks, own);
      block.keys.splice(at, 0, own);
      block.stands.splice(at, 0, stand);
      if (block.keys.length > BLOCK_ROWS) split(blocks, blockAt);
    },
    delete(key) {
      if (!byKey.delete(key)) return false;
      const { block, blockAt, at } = find(blocks, orderKey(key));
      block.keys.splice(at, 1);
      block.stands.splice(at, 1);
      if (block.keys.length < BLOCK_ROWS_MIN) join(blocks, blockAt);
      return true;
    },
    scan: ({ from, to, limit }) => collect(blocks, orderKey(from), orderKey(to), limit),
  };
}

/** A text whose UTF-16 units order as the UTF-8 bytes of `key` do: the units from U+E000 on move below the surrogates. */
export function orderKey(key: RowKey): string {
  if (!BEYOND.test(key)) return key;
  return key.replace(BEYOND_ALL, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code >= FIRST_AFTER_SURROGATES ? code - SURROGATES : code + (0x10000 - FIRST_AFTER_SURROGATES));
  });
}

const FIRST_AFTER_SURROGATES = 0xe000;
const SURROGATES = 0x800;
const BEYOND = /[\ud800-\uffff]/;
const BEYOND_ALL = /[\ud800-\uffff]/g;

interface Place {
  block: Block;
  blockAt: number;
  /** Where the key stands, or would stand. */
  at: number;
}

function find(blocks: readonly Block[], key: string): Place {
  // The last block that begins at or before the key; the first one takes what is smaller than all.
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (blocks[middle]!.keys[0]! <= key) low = middle;
    else high = middle - 1;
  }
  const block = blocks[low]!;
  return { block, blockAt: low, at: lowerBound(block.keys, key) };
}

/** The first place whose key is not smaller than `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function split(blocks: Block[], blockAt: number): void {
  const block = blocks[blockAt]!;
  const half = block.keys.length >>> 1;
  blocks.splice(blockAt + 1, 0, { keys: block.keys.splice(half), stands: block.stands.splice(half) });
}

/** No block is empty but an only one: find() looks at their first keys. */
function join(blocks: Block[], blockAt: number): void {
  if (blocks[blockAt]!.keys.length === 0 && blocks.length > 1) {
    blocks.splice(blockAt, 1);
    return;
  }
  const first = Math.min(blockAt, blocks.length - 2);
  const left = blocks[first];
  const right = blocks[first + 1];
  if (left === undefined || right === undefined || left.keys.length + right.keys.length > BLOCK_ROWS / 2) return;
  blocks.splice(first, 2, { keys: left.keys.concat(right.keys), stands: left.stands.concat(right.stands) });
}

function collect(blocks: readonly Block[], from: string, to: string, limit: number): Row[] {
  const rows: Row[] = [];
  let { blockAt, at } = find(blocks, from);
  for (; blockAt < blocks.length; blockAt++, at = 0) {
    const block = blocks[blockAt]!;
    for (; at < block.keys.length; at++) {
      if (rows.length >= limit || block.keys[at]! >= to) return rows;
      rows.push(block.stands[at]!.row);
    }
  }
  return rows;
}
