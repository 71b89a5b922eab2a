// What does each request do to the database? Runs on the thread that owns it, or in a reader; the caller opens and ends transactions.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Row } from "../../ports/versioned-table.ts";
import { type AfterCommit, queueState } from "../queues/sqlite-queue-state.ts";
import { sealed, unsealed } from "./seal.ts";
import { sqlName } from "./sqlite-database.ts";
import { damagedRow } from "./sqlite-faults.ts";
import type { AnswerOf, Operation, RequestOf } from "./sqlite-requests.ts";

export type Operations = { [O in Operation]: (request: RequestOf<O>, afterCommit: AfterCommit) => AnswerOf<O> };

/** Throws what SQLite throws, and StoreError where a row is not what was written. */
export function operationsOn(database: DatabaseSync, folder: string): Operations {
  const table = keptByName((name) => tableStatements(database, name));
  const queue = keptByName((name) => queueState(database, name, folder));
  const meta = metaStatements(database);
  const rowOf = (name: string, key: string, [rev, stored]: readonly [rev: string, stored: Uint8Array]): Row => {
    const value = unsealed(stored, key, rev);
    if (value === undefined) throw damagedRow(folder, `a row of ${name}`);
    return { key, rev, value };
  };
  return {
    get({ table: name, keys }) {
      const { get } = table(name);
      return keys.map((key) => {
        const found = get.get(key) as unknown as [rev: string, value: Uint8Array] | undefined;
        return found && rowOf(name, key, found);
      });
    },
    scan({ table: name, range }) {
      const found = table(name).scan.all(range.from, range.to, range.limit) as unknown as [string, string, Uint8Array][];
      return found.map(([key, ...rest]) => rowOf(name, key, rest));
    },
    insertIfAbsent({ table: name, rows }) {
      const { insert } = table(name);
      return rows.map((row) => changed(insert.run(row.key, row.rev, sealed(row.value, row.key, row.rev))));
    },
    compareAndSet: ({ table: name, row, expectedRev }) =>
      changed(table(name).set.run(row.rev, sealed(row.value, row.key, row.rev), row.key, expectedRev)),
    delete({ table: name, rows }) {
      const { deleteAny, deleteRev } = table(name);
      return rows.map(({ key, rev }) => changed(rev === undefined ? deleteAny.run(key) : deleteRev.run(key, rev)));
    },
    put({ table: name, rows }) {
      const { put } = table(name);
      for (const row of rows) put.run(row.key, row.rev, sealed(row.value, row.key, row.rev));
    },
    drop({ table: name, keys }) {
      const { deleteAny } = table(name);
      for (const key of keys) deleteAny.run(key);
    },
    publish: ({ queue: name, bodies }, afterCommit) => queue(name).publish(bodies, afterCommit),
    pull: ({ queue: name, max }) => queue(name).pull(max),
    acknowledge: ({ queue: name, ids }, afterCommit) => queue(name).acknowledge(ids, afterCommit),
    setAside: ({ queue: name, ids }, afterCommit) => queue(name).setAside(ids, afterCommit),
    release: ({ queue: name, ids }) => queue(name).release(ids),
    depth: ({ queue: name }) => queue(name).depth(),
    getMeta({ key }) {
      const found = meta.get.get(key) as { value: string; seal: Uint8Array | null } | undefined;
      if (found !== undefined && found.seal !== null && unsealed(found.seal, key, found.value) === undefined)
        throw damagedRow(folder, `the fact '${key}'`);
      return found?.value;
    },
    setMeta: ({ key, value }) => void meta.set.run(key, value, sealed(new Uint8Array(), key, value)),
  };
}

function tableStatements(database: DatabaseSync, name: string) {
  const table = sqlName("table", name);
  return {
    get: arrays(database.prepare(`SELECT rev, value FROM ${table} WHERE key = ?`)),
    scan: arrays(database.prepare(`SELECT key, rev, value FROM ${table} WHERE key >= ? AND key < ? ORDER BY key LIMIT ?`)),
    insert: database.prepare(`INSERT INTO ${table} VALUES (?, ?, ?) ON CONFLICT DO NOTHING`),
    put: database.prepare(
      `INSERT INTO ${table} VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET rev = excluded.rev, value = excluded.value`,
    ),
    set: database.prepare(`UPDATE ${table} SET rev = ?, value = ? WHERE key = ? AND rev = ?`),
    deleteAny: database.prepare(`DELETE FROM ${table} WHERE key = ?`),
    deleteRev: database.prepare(`DELETE FROM ${table} WHERE key = ? AND rev = ?`),
  };
}

function metaStatements(database: DatabaseSync) {
  return {
    get: database.prepare("SELECT value, seal FROM meta WHERE key = ?"),
    set: database.prepare(
      "INSERT INTO meta VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, seal = excluded.seal",
    ),
  };
}

/** Arrays are cheaper to make than objects, and give rows of ours an ordinary prototype. */
function arrays(statement: StatementSync): StatementSync {
  statement.setReturnArrays(true);
  return statement;
}

function changed(result: ReturnType<StatementSync["run"]>): boolean {
  return Number(result.changes) > 0;
}

function keptByName<T>(make: (name: string) => T): (name: string) => T {
  const kept = new Map<string, T>();
  return (name) => {
    const found = kept.get(name) ?? make(name);
    kept.set(name, found);
    return found;
  };
}
