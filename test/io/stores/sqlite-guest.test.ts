// Do a crawl and a daily run in processes of their own lose anything of each other's in one folder, or keep each other from their end?
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqliteStore } from "../../../io/stores/sqlite-store.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import { openTestStore, temporaryFolder } from "./opened-store.ts";

const CHILD_MS_MAX = 30_000; // one that never ends is ended, and the test fails
const WRITERS = 16; // of a child
const PER_WRITER = 250;

interface Told {
  won: Record<string, number>;
  lost: number;
  refused: number;
}

/** Resolves once the process has opened the folder. */
async function startChild(context: TestContext, role: "owner" | "guest", folder: string) {
  const script = new URL("./guest-child.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [script, role, folder, String(PER_WRITER)], {
    stdio: ["pipe", "pipe", "inherit"],
    timeout: CHILD_MS_MAX,
  });
  context.after(() => child.kill("SIGKILL"));
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  assert.equal((await lines.next()).value, "opened");
  return {
    async go(): Promise<Told> {
      child.stdin.end("go\n");
      const last = await lines.next();
      assert.deepEqual(await exited, [0, null], `the ${role} ends well`);
      return JSON.parse(last.value as string);
    },
    async killedAmongCommits(): Promise<void> {
      child.stdin.end("go\n");
      await sleep(100);
      child.kill("SIGKILL");
      assert.deepEqual(await exited, [null, "SIGKILL"]);
    },
  };
}

test("a crawl and a guest that count up the same records by compare-and-set: each count stands, and none is refused", async (context) => {
  const folder = await temporaryFolder(context);
  const owner = await startChild(context, "owner", folder);
  const guest = await startChild(context, "guest", folder);
  const told = await Promise.all([owner.go(), guest.go()]);
  for (const { won } of told)
    assert.equal(
      Object.values(won).reduce((sum, count) => sum + count, 0),
      WRITERS * PER_WRITER,
    );
  assert.ok(told[0]!.lost + told[1]!.lost > 0, "they met");
  assert.deepEqual(
    told.map(({ refused }) => refused),
    [0, 0],
  );

  const store = await openTestStore(folder);
  const rows = await store.table("urls").scan({ from: "", to: "~", limit: 100 });
  for (const { key, rev, value } of rows) {
    const counted = told.reduce((sum, { won }) => sum + (won[key] ?? 0), 0);
    assert.deepEqual([Number(rev), Buffer.from(value).readUInt32LE()], [counted, counted], key);
  }
  assert.equal(await store.queue("host").depth(), 0);
  await store.close();
  assert.deepEqual(
    (await readdir(folder)).filter((name) => /-(wal|shm|journal)$/.test(name)),
    [],
    "both left a clean folder",
  );
});

test("a guest that is killed among its commits keeps nothing from the crawl, nor from the next guest", async (context) => {
  const folder = await temporaryFolder(context);
  const owner = await startChild(context, "owner", folder);
  const guest = await startChild(context, "guest", folder);
  const [ownersEnd, guestsEnd] = [owner.go(), guest.killedAmongCommits()];
  const [{ won, refused }] = await Promise.all([ownersEnd, guestsEnd]);
  assert.equal(refused, 0);
  const next = await openTestStore(folder, { guest: true });
  for (const { key, rev, value } of await next.table("urls").scan({ from: "", to: "~", limit: 100 })) {
    assert.equal(Buffer.from(value).readUInt32LE(), Number(rev), `${key} is whole`);
    assert.ok(Number(rev) >= won[key]!, `${key} has all counts of the crawl`);
  }
  await next.close();
});

test("a commit that another's lock outlasts is refused for now, and the same store takes it when the lock has gone", async (context) => {
  const folder = await temporaryFolder(context);
  await (await openTestStore(folder)).close();
  const options = { folder, tables: ["urls", "hosts"], durability: "process", busyMs: 30 } as const;
  const owner = await openSqliteStore({ ...options, queues: ["host"] });
  const guest = await openSqliteStore({ ...options, queues: [], guest: true });
  const other = new DatabaseSync(join(folder, "state.sqlite"));
  other.exec("BEGIN IMMEDIATE");
  const row = { key: "a", rev: "1", value: Buffer.alloc(1) };
  const forNow = (error: unknown) =>
    error instanceof StoreError && !error.final && /locked by another program/.test(error.message);
  for (const store of [owner, guest]) {
    await assert.rejects(store.table("urls").insertIfAbsent([row]), forNow);
    assert.deepEqual(await store.table("urls").get(["a"]), [undefined], "reads go on");
  }
  await assert.rejects(owner.queue("host").publish([Buffer.from("m")]), forNow);
  other.exec("ROLLBACK");
  other.close();
  assert.deepEqual(await owner.table("urls").insertIfAbsent([row]), [true]);
  assert.deepEqual(await guest.table("urls").insertIfAbsent([row]), [false]);
  await owner.queue("host").publish([Buffer.from("m")]);
  assert.equal(await owner.queue("host").depth(), 1);
  await guest.close();
  await owner.close();
});
