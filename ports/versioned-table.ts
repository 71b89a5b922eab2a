// Where records live: operations on single rows. Nothing above this port assumes that two rows change together.
import { type Codec, decode, encode } from "../schemas/codec.ts";
import type { RowKey } from "../schemas/row-key.ts";
import type { Random } from "./random.ts";

export interface Row {
  key: RowKey;
  /** Unique to one write; all that compare-and-set compares. Drawn by the writer, so that a lost answer is resolved by reading it. */
  rev: string;
  value: Uint8Array;
}

/** Keys order by their UTF-8 bytes. An operation that resolves is durable; one that rejects with StoreError may or may not have happened. */
export interface VersionedTable {
  /** In the order of the keys; undefined where there is no row. */
  get(keys: readonly RowKey[]): Promise<(Row | undefined)[]>;
  /** For each row whether it was absent and now stands. Rows are independent of each other. */
  insertIfAbsent(rows: readonly Row[]): Promise<boolean[]>;
  /** Whether the row had `expectedRev` and is now `row`. */
  compareAndSet(row: Row, expectedRev: string): Promise<boolean>;
  /** Rows from `from` (inclusive) to `to` (exclusive), at most `limit`, in order. */
  scan(range: { from: RowKey; to: RowKey; limit: number }): Promise<Row[]>;
  /** Deletes what still has the given rev, or whatever stands where no rev is given. For each whether it was there. */
  delete(rows: readonly { key: RowKey; rev?: string }[]): Promise<boolean[]>;
  /** The rows stand, whatever stood there before: for what nothing is compared with. Cheaper than asking first. */
  put(rows: readonly Row[]): Promise<void>;
  /** No rows stand under the keys, whether any did before. */
  drop(keys: readonly RowKey[]): Promise<void>;
}

/** The store could not do what it was asked to. `final`: nor will it later (damaged, of another version, in use). */
export class StoreError extends Error {
  readonly final: boolean;
  constructor(message: string, options: { final?: boolean; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.final = options.final ?? false;
  }
}

export interface Versioned<T> {
  rev: string;
  value: T;
}

/** A table of one kind of record; its codec is told the row key, so that records leave out what the key says. */
export interface RecordTable<T> {
  get(keys: readonly RowKey[]): Promise<(Versioned<T> | undefined)[]>;
  insertIfAbsent(records: readonly { key: RowKey; value: T }[]): Promise<boolean[]>;
  /** The new rev, or undefined where the record has moved on. */
  compareAndSet(key: RowKey, value: T, expectedRev: string): Promise<string | undefined>;
  scan(range: { from: RowKey; to: RowKey; limit: number }): Promise<(Versioned<T> & { key: RowKey })[]>;
  delete(rows: readonly { key: RowKey; rev?: string }[]): Promise<boolean[]>;
}

export function recordTable<T>(table: VersionedTable, codec: Codec<T>, random: Random): RecordTable<T> {
  return {
    async get(keys) {
      const rows = await table.get(keys);
      return rows.map((row) => row && { rev: row.rev, value: decode(codec, row.value, row.key) });
    },
    insertIfAbsent: (records) =>
      table.insertIfAbsent(records.map(({ key, value }) => ({ key, rev: random.token(), value: encode(codec, value, key) }))),
    async compareAndSet(key, value, expectedRev) {
      const rev = random.token();
      return (await table.compareAndSet({ key, rev, value: encode(codec, value, key) }, expectedRev)) ? rev : undefined;
    },
    async scan(range) {
      const rows = await table.scan(range);
      return rows.map((row) => ({ key: row.key, rev: row.rev, value: decode(codec, row.value, row.key) }));
    },
    delete: (rows) => table.delete(rows),
  };
}

/** All rows from `from` to `to` in pages of at most `limit`, none empty; what is written meanwhile may be among them or not. Reads on demand. */
export async function* scanPages<R extends { key: RowKey }>(
  table: { scan(range: ScanRange): Promise<R[]> },
  { from, to, limit }: ScanRange,
): AsyncGenerator<R[]> {
  for (let next = from; ; ) {
    const rows = await table.scan({ from: next, to, limit });
    if (rows.length > 0) yield rows;
    if (rows.length < limit) return;
    next = `${rows.at(-1)!.key}\u0000`; // the least key that is greater
  }
}

interface ScanRange {
  from: RowKey;
  to: RowKey;
  limit: number;
}
