// Which keys and rows can Bigtable keep, and as which bytes? What it would refuse is refused here, in a line that says why.
import { type Row, StoreError } from "../../../ports/versioned-table.ts";
import type { RowKey } from "../../../schemas/row-key.ts";
import { checkedKey, checkedRange, checkedRow } from "../checks.ts";
import { pooledCopy } from "../pooled-copy.ts";
import { decodeCell, encodeCell, REV_BYTES_MAX } from "./cell.ts";
import { foreignRow, named, type Place } from "./faults.ts";

/** Bigtable's limit, less the byte that the next page of a scan adds: https://cloud.google.com/bigtable/quotas */
const KEY_BYTES_MAX = 4096 - 1;
/** What Bigtable advises for a cell, at the same address; it refuses 100 MB. */
const VALUE_BYTES_MAX = 10 * 1024 * 1024;

/** A row as it will be written; its writer can no longer change it. */
export interface WritableRow {
  key: RowKey;
  rowKey: Buffer;
  rev: string;
  cell: Buffer;
}

/** Throws StoreError. */
export function writableRow(place: Place, row: Row): WritableRow {
  const checked = checkedRow(row);
  if (checked.value.length > VALUE_BYTES_MAX)
    throw new StoreError(
      `a value of ${checked.value.length} bytes is too long for ${named(place)}: it keeps ${VALUE_BYTES_MAX}`,
    );
  const cell = encodeCell(checked);
  if (cell === undefined) throw new StoreError(`a rev is too long for ${named(place)}: it keeps ${REV_BYTES_MAX} bytes of it`);
  return { key: checked.key, rowKey: keyBytes(place, checked.key), rev: checked.rev, cell };
}

/** Throws StoreError. */
export function keyBytes(place: Place, key: RowKey): Buffer {
  const bytes = Buffer.from(checkedKey(key));
  if (bytes.length === 0) throw new StoreError(`${named(place)} has no row without a key`);
  if (bytes.length > KEY_BYTES_MAX)
    throw new StoreError(`a key of ${bytes.length} bytes is too long for ${named(place)}: it takes ${KEY_BYTES_MAX}`);
  return bytes;
}

/** Throws StoreError where a cell is none of ours. */
export function rowOf(place: Place, key: RowKey, cell: Buffer): Row {
  const content = decodeCell(cell);
  if (content === undefined) throw foreignRow(place, key);
  return { key, rev: content.rev, value: pooledCopy(content.value) };
}

export interface RangeBytes {
  startKeyClosed: Buffer;
  endKeyOpen: Buffer;
  /** 1 or more. */
  limit: number;
}

/** undefined where no row can be in it: to Bigtable an empty end is no end, and a limit of 0 is none. Throws StoreError. */
export function rangeBytes(place: Place, range: { from: RowKey; to: RowKey; limit: number }): RangeBytes | undefined {
  const { from, to, limit } = checkedRange(range);
  const startKeyClosed = Buffer.from(from);
  const endKeyOpen = Buffer.from(to);
  const longest = Math.max(startKeyClosed.length, endKeyOpen.length);
  if (longest > KEY_BYTES_MAX + 1)
    throw new StoreError(
      `a range with an end of ${longest} bytes is too long for ${named(place)}: it takes ${KEY_BYTES_MAX + 1}`,
    );
  if (limit === 0 || Buffer.compare(startKeyClosed, endKeyOpen) >= 0) return undefined;
  return { startKeyClosed, endKeyOpen, limit };
}
