// Which messages of a queue in the database may be pulled? Messages stand in the file, who holds them only in memory.
import type { DatabaseSync } from "node:sqlite";
import type { QueueMessage } from "../../ports/queue.ts";
import { sealed, unsealed } from "../stores/seal.ts";
import { sqlName } from "../stores/sqlite-database.ts";
import { damagedRow } from "../stores/sqlite-faults.ts";

/** What follows a commit, and only a commit: changes to what is kept in memory. */
export type AfterCommit = (effect: () => void) => void;

export interface QueueState {
  publish(bodies: readonly Uint8Array[], afterCommit: AfterCommit): undefined;
  pull(max: number): QueueMessage[];
  acknowledge(ids: readonly string[], afterCommit: AfterCommit): undefined;
  setAside(ids: readonly string[], afterCommit: AfterCommit): undefined;
  release(ids: readonly string[]): undefined;
  depth(): number;
}

/** Every id up to `cursor` was pulled since the store was opened: it is held, released or gone. A new process begins at 0. */
export function queueState(database: DatabaseSync, name: string, folder: string): QueueState {
  const statements = queueStatements(database, name);
  const held = new Set<string>();
  const released = new Set<string>();
  let cursor = 0;
  let depth: number | undefined; // counted when first asked for, then kept

  const changeDepth = (by: number): void => {
    if (depth !== undefined) depth += by;
  };
  const hold = (row: { id: number; body: Uint8Array }): QueueMessage => {
    const id = String(row.id);
    const body = unsealed(row.body);
    if (body === undefined) throw damagedRow(folder, `a message of ${name}`);
    held.add(id);
    return { id, body };
  };

  const remove = (id: string, afterCommit: AfterCommit): void => {
    const gone = Number(statements.remove.run(Number(id)).changes);
    afterCommit(() => {
      held.delete(id);
      changeDepth(-gone);
    });
  };

  return {
    publish(bodies, afterCommit) {
      let published = 0;
      afterCommit(() => changeDepth(published)); // what came before a failing one stands, too
      for (const body of bodies) {
        statements.insert.run(sealed(body));
        published++;
      }
    },
    pull(max) {
      const messages: QueueMessage[] = [];
      for (const id of released) {
        if (messages.length >= max) return messages;
        released.delete(id);
        const row = statements.one.get(Number(id));
        if (row !== undefined) messages.push(hold(row as { id: number; body: Uint8Array }));
      }
      for (const row of statements.next.all(cursor, max - messages.length)) {
        cursor = row.id as number;
        messages.push(hold(row as { id: number; body: Uint8Array }));
      }
      return messages;
    },
    acknowledge(ids, afterCommit) {
      for (const id of ids) remove(id, afterCommit);
    },
    setAside(ids, afterCommit) {
      for (const id of ids) {
        statements.keep.run(Number(id));
        remove(id, afterCommit);
      }
    },
    release(ids) {
      for (const id of ids) if (held.delete(id)) released.add(id);
    },
    depth() {
      depth ??= Number(statements.count.get()?.count);
      return depth;
    },
  };
}

function queueStatements(database: DatabaseSync, name: string) {
  const queue = sqlName("queue", name);
  return {
    insert: database.prepare(`INSERT INTO ${queue} (body) VALUES (?)`),
    next: database.prepare(`SELECT id, body FROM ${queue} WHERE id > ? ORDER BY id LIMIT ?`),
    one: database.prepare(`SELECT id, body FROM ${queue} WHERE id = ?`),
    keep: database.prepare(
      `INSERT INTO ${sqlName("aside", name)} SELECT id, body FROM ${queue} WHERE id = ? ON CONFLICT DO NOTHING`,
    ),
    remove: database.prepare(`DELETE FROM ${queue} WHERE id = ?`),
    count: database.prepare(`SELECT count(*) AS count FROM ${queue}`),
  };
}
