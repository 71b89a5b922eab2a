// May this row, key or range be stored? What every table refuses alike, so that no store keeps what another cannot.
import { type Row, StoreError } from "../../ports/versioned-table.ts";
import type { RowKey } from "../../schemas/row-key.ts";
import { pooledCopy } from "./pooled-copy.ts";

/** Tables answer no scan with more rows than this; the largest LIMIT that SQLite and 32-bit indexes both take. */
const SCAN_ROWS_MAX = 2 ** 31 - 1;

/** A copy of the row that its writer can no longer change. Throws StoreError where the row cannot be stored. */
export function checkedRow(row: Row): Row {
  if (!(row.value instanceof Uint8Array)) throw refused(`the value of ${quoted(row.key)} is not bytes`);
  return { key: checkedKey(row.key), rev: checkedRev(row.rev), value: pooledCopy(row.value) };
}

/** Keys and revs are compared as UTF-8, which has no lone surrogates: two of them would become one key. */
export function checkedKey(key: RowKey): RowKey {
  return checkedText(key, "key");
}

export function checkedRev(rev: string): string {
  return checkedText(rev, "rev");
}

export function checkedRange(range: { from: RowKey; to: RowKey; limit: number }): { from: RowKey; to: RowKey; limit: number } {
  if (Number.isNaN(range.limit)) throw refused("the limit of a scan is not a number");
  return { from: checkedKey(range.from), to: checkedKey(range.to), limit: wholeCount(range.limit) };
}

/** A count that a caller gave, as a whole number that a store can take. */
export function wholeCount(count: number): number {
  return Math.max(0, Math.min(SCAN_ROWS_MAX, Math.floor(count)));
}

function checkedText(text: string, what: string): string {
  if (typeof text !== "string" || !text.isWellFormed()) throw refused(`the ${what} ${quoted(text)} is not well-formed text`);
  return text;
}

/** Not final: the store is well, only this request is wrong. */
function refused(message: string): StoreError {
  return new StoreError(message);
}

const QUOTED_CHARS = 200; // of a key in an error's line

function quoted(text: unknown): string {
  return JSON.stringify(String(text).slice(0, QUOTED_CHARS));
}
