// Where does a crawl on one machine keep its records and messages? In one SQLite file, owned by a thread, shared by all callers' commits.
import type { Queue } from "../../ports/queue.ts";
import { StoreError, type VersionedTable } from "../../ports/versioned-table.ts";
import { sqliteQueue } from "../queues/sqlite-queue.ts";
import { checkedKey, checkedRange, checkedRev, checkedRow } from "./checks.ts";
import { FORMAT_KEY, sqlName } from "./sqlite-database.ts";
import type { StoreOptions } from "./sqlite-requests.ts";
import { type StoreStats, type StoreThread, startStoreThread } from "./sqlite-thread.ts";

export interface SqliteStore {
  /** One of the tables it was opened with. */
  table(name: string): VersionedTable;
  /** One of the queues it was opened with; every call gives the same queue. */
  queue(name: string): Queue;
  /** Facts about the folder itself; durable as rows are. `format` is its version, and not to be set. */
  meta: { get(key: string): Promise<string | undefined>; set(key: string, value: string): Promise<void> };
  stats(): StoreStats;
  /** Resolves when everything asked before is answered and the folder is free for others. */
  close(): Promise<void>;
}

/**
 * Opens folder/state.sqlite, made where there is none, for this process alone. Rejects with StoreError: in use, of another version, not
 * a database, not writable, no space; nothing is written then. Requests that are not awaited may pass each other: reads see what was
 * committed before their tick.
 */
export async function openSqliteStore(options: StoreOptions): Promise<SqliteStore> {
  const { tables, queues } = options;
  for (const name of tables) sqlName("table", name);
  for (const name of queues) sqlName("queue", name);
  const thread = await startStoreThread(workerScript(), { ...options, tables: [...tables], queues: [...queues] });
  const openTables = new Map(tables.map((name) => [name, sqliteTable(thread, name)]));
  const openQueues = new Map(queues.map((name) => [name, sqliteQueue(thread, name)]));
  return {
    table: (name) => known(openTables, name),
    queue: (name) => known(openQueues, name),
    meta: {
      get: (key) => thread.ask({ operation: "getMeta", key }),
      async set(key, value) {
        if (key === FORMAT_KEY) throw new StoreError(`'${FORMAT_KEY}' is the version of the folder and not to be set`);
        await thread.ask({ operation: "setMeta", key: checkedKey(key), value });
      },
    },
    stats: thread.stats,
    close: thread.close,
  };
}

function sqliteTable(thread: StoreThread, table: string): VersionedTable {
  return {
    async get(keys) {
      if (keys.length === 0) return [];
      return thread.ask({ operation: "get", table, keys: keys.map(checkedKey) });
    },
    async insertIfAbsent(rows) {
      if (rows.length === 0) return [];
      return thread.ask({ operation: "insertIfAbsent", table, rows: rows.map(checkedRow) });
    },
    async compareAndSet(row, expectedRev) {
      return thread.ask({ operation: "compareAndSet", table, row: checkedRow(row), expectedRev: checkedRev(expectedRev) });
    },
    async scan(range) {
      return thread.ask({ operation: "scan", table, range: checkedRange(range) });
    },
    async delete(rows) {
      if (rows.length === 0) return [];
      const checked = rows.map(({ key, rev }) =>
        rev === undefined ? { key: checkedKey(key) } : { key: checkedKey(key), rev: checkedRev(rev) },
      );
      return thread.ask({ operation: "delete", table, rows: checked });
    },
    async put(rows) {
      if (rows.length > 0) await thread.ask({ operation: "put", table, rows: rows.map(checkedRow) });
    },
    async drop(keys) {
      if (keys.length > 0) await thread.ask({ operation: "drop", table, keys: keys.map(checkedKey) });
    },
  };
}

/** Beside this file, whether it runs as TypeScript or compiled: only specifiers of imports are rewritten by the compiler. */
function workerScript(): URL {
  return new URL(import.meta.url.endsWith(".ts") ? "./sqlite-worker.ts" : "./sqlite-worker.js", import.meta.url);
}

function known<T>(opened: ReadonlyMap<string, T>, name: string): T {
  const found = opened.get(name);
  if (found === undefined)
    throw new Error(`'${name}' is none of ${[...opened.keys()].join(", ")}, which this store was opened with`);
  return found;
}
