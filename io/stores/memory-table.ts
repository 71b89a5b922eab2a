// A versioned table in memory: what a simulated or short crawl keeps its records in. Each operation is done when its call returns.
import type { Row, VersionedTable } from "../../ports/versioned-table.ts";
import { checkedKey, checkedRange, checkedRow } from "./checks.ts";
import { pooledCopy } from "./pooled-copy.ts";
import { sortedRows } from "./sorted-rows.ts";

/** Answers with microtasks alone. Rows are copied on their way in and out. */
export function memoryTable(): VersionedTable {
  const standing = sortedRows();
  return {
    async get(keys) {
      return keys.map((key) => {
        const row = standing.get(checkedKey(key));
        return row && copied(row);
      });
    },
    async insertIfAbsent(rows) {
      return rows.map(checkedRow).map((row) => {
        if (standing.get(row.key) !== undefined) return false;
        standing.set(row);
        return true;
      });
    },
    async compareAndSet(row, expectedRev) {
      const next = checkedRow(row);
      if (standing.get(next.key)?.rev !== expectedRev) return false;
      standing.set(next);
      return true;
    },
    async scan(range) {
      return standing.scan(checkedRange(range)).map(copied);
    },
    async delete(rows) {
      return rows.map(({ key, rev }) => {
        if (rev !== undefined && standing.get(checkedKey(key))?.rev !== rev) return false;
        return standing.delete(checkedKey(key));
      });
    },
    async put(rows) {
      for (const row of rows.map(checkedRow)) standing.set(row);
    },
    async drop(keys) {
      for (const key of keys.map(checkedKey)) standing.delete(key);
    },
  };
}

function copied(row: Row): Row {
  return { key: row.key, rev: row.rev, value: pooledCopy(row.value) };
}
