// What stands in a data folder? Read-only, for tools, whether a crawl runs on it or not.
import { StoreError, type VersionedTable } from "../../ports/versioned-table.ts";
import { checkedKey, checkedRange } from "./checks.ts";
import { openDatabaseToRead } from "./sqlite-database.ts";
import { troubleOf } from "./sqlite-faults.ts";
import { operationsOn } from "./sqlite-operations.ts";

export interface SqliteReader {
  /** Its get and scan see what is committed; all else rejects. A table that the folder does not have rejects, too. */
  table(name: string): VersionedTable;
  meta: { get(key: string): Promise<string | undefined> };
  close(): Promise<void>;
}

/** Rejects with StoreError: no crawl there, of another version, not a database. Reads on the calling thread: for tools, not for crawls. */
export async function openSqliteReader(folder: string): Promise<SqliteReader> {
  const database = openDatabaseToRead(folder);
  const operations = operationsOn(database, folder);
  const noCommit = (): void => {};
  return {
    table: (table) => ({
      get: async (keys) =>
        read(folder, () => operations.get({ operation: "get", table, keys: keys.map(checkedKey) }, noCommit)),
      scan: async (range) =>
        read(folder, () => operations.scan({ operation: "scan", table, range: checkedRange(range) }, noCommit)),
      insertIfAbsent: () => refused(folder),
      compareAndSet: () => refused(folder),
      delete: () => refused(folder),
      put: () => refused(folder),
      drop: () => refused(folder),
    }),
    meta: { get: async (key) => read(folder, () => operations.getMeta({ operation: "getMeta", key }, noCommit)) },
    async close() {
      if (database.isOpen) database.close();
    },
  };
}

function read<T>(folder: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw troubleOf(error, folder).error;
  }
}

async function refused(folder: string): Promise<never> {
  throw new StoreError(`${folder} was opened for reading only`, { final: true });
}
