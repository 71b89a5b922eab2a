// A store in a folder of its own, for tests: what they open, and how they clean up.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { openSqliteStore, type SqliteStore } from "../../../io/stores/sqlite-store.ts";

/** An empty folder that is removed after the test. */
export async function temporaryFolder(context: Pick<TestContext, "after">): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "store-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A store with the tables `urls` and `hosts`. Relaxed commits unless asked for: the tests look at processes, not at power. */
export function openTestStore(
  folder: string,
  {
    durability = "process",
    queues = ["host"],
    guest = false,
  }: { durability?: "power" | "process"; queues?: string[]; guest?: boolean } = {},
): Promise<SqliteStore> {
  return openSqliteStore({ folder, tables: ["urls", "hosts"], queues, durability, guest });
}

/** A store in a folder of its own; `close` removes both. */
export async function makeTestStore(queues = ["host"]): Promise<{ store: SqliteStore; close: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "store-"));
  const store = await openTestStore(folder, { queues });
  return {
    store,
    async close() {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
