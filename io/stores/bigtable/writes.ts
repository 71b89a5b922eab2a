// What do the writes of a versioned table ask of Bigtable, and how does each conditional one know its own work again?
import type { Row } from "../../../ports/versioned-table.ts";
import type { RowKey } from "../../../schemas/row-key.ts";
import { type CheckAsk, LATEST_CELL, type MutateEntry } from "./calls.ts";
import { cellsWithRev } from "./cell.ts";
import type { Standing } from "./conditional-write.ts";
import type { WritableRow } from "./row-bytes.ts";

/** The one column family of our tables; its one column has no name. Both stand in every row. */
export const FAMILY = "r";
const COLUMN = Buffer.alloc(0);

/** All cells have it: a new one takes the place of the old one, so that no row ever has two, collected or not. */
const FIXED_TIME = 0;

export interface Write {
  key: RowKey;
  ask: CheckAsk;
  /** Whether it was written, where `matched` tells whether the filter let a cell through. */
  written(matched: boolean): boolean;
  /** Seen by what stands in the row after an answer was lost. */
  standing(found: Row | undefined): Standing;
}

export function insertion({ key, rowKey, rev, cell }: WritableRow): Write {
  return {
    key,
    ask: { rowKey, predicateFilter: LATEST_CELL, falseMutations: [setCell(cell)] },
    written: (matched) => !matched,
    standing: (found) => (found === undefined ? "open" : found.rev === rev ? "done" : "moved"),
  };
}

export function replacement({ key, rowKey, rev, cell }: WritableRow, expectedRev: string): Write {
  return {
    key,
    ask: { rowKey, predicateFilter: withRev(expectedRev), trueMutations: [setCell(cell)] },
    written: (matched) => matched,
    standing: (found) => (found?.rev === rev ? "done" : found?.rev === expectedRev ? "open" : "moved"),
  };
}

/** A row that is gone does not tell who deleted it: this write is never known again. */
export function deletion(key: RowKey, rowKey: Buffer, rev: string | undefined): Write {
  const predicateFilter = rev === undefined ? LATEST_CELL : withRev(rev);
  return {
    key,
    ask: { rowKey, predicateFilter, trueMutations: [{ deleteFromRow: {} }] },
    written: (matched) => matched,
    standing: (found) => (found !== undefined && (rev === undefined || found.rev === rev) ? "open" : "moved"),
  };
}

export function putEntry({ rowKey, cell }: WritableRow): MutateEntry {
  return { rowKey, mutations: [setCell(cell)] };
}

export function dropEntry(rowKey: Buffer): MutateEntry {
  return { rowKey, mutations: [{ deleteFromRow: {} }] };
}

function withRev(rev: string): object {
  const valueRangeFilter = cellsWithRev(rev);
  if (valueRangeFilter === undefined) return { blockAllFilter: true }; // no row has such a rev
  return { chain: { filters: [LATEST_CELL, { valueRangeFilter }] } };
}

function setCell(value: Buffer): object {
  return { setCell: { familyName: FAMILY, columnQualifier: COLUMN, timestampMicros: FIXED_TIME, value } };
}
