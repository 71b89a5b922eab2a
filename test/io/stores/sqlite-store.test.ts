import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, test } from "node:test";
import { openSqliteReader } from "../../../io/stores/sqlite-reader.ts";
import { openSqliteStore } from "../../../io/stores/sqlite-store.ts";
import { startStoreThread } from "../../../io/stores/sqlite-thread.ts";
import { type Row, StoreError } from "../../../ports/versioned-table.ts";
import { versionedTableContract } from "../../contracts/versioned-table.ts";
import { makeTestStore, openTestStore, temporaryFolder } from "./opened-store.ts";

versionedTableContract("SQLite", async () => {
  const { store, close } = await makeTestStore();
  return { table: store.table("urls"), close };
});

describe("group commit", () => {
  test("a hundred concurrent writers need a handful of transactions, and reads none", async () => {
    const { store, close } = await makeTestStore();
    const urls = store.table("urls");
    await Promise.all(Array.from({ length: 100 }, (_, at) => urls.insertIfAbsent([row(`key-${at}`)])));
    const { transactions } = store.stats();
    assert.ok(transactions >= 1 && transactions <= 5, `${transactions} transactions`);
    await Promise.all(Array.from({ length: 100 }, (_, at) => urls.get([`key-${at}`])));
    assert.deepEqual(store.stats(), { requests: 200, transactions });
    await close();
  });

  test("a write that the database refuses fails alone; the others of its commit stand", async (context) => {
    const folder = await temporaryFolder(context);
    const store = await openTestStore(folder);
    alter(
      folder,
      "CREATE TRIGGER no BEFORE INSERT ON table_urls WHEN new.key = 'bad' BEGIN SELECT raise(ABORT, 'not this one'); END",
    );
    const urls = store.table("urls");
    const results = await Promise.allSettled(["a", "bad", "b"].map((key) => urls.insertIfAbsent([row(key)])));
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    const { reason } = results[1] as PromiseRejectedResult;
    assert.ok(reason instanceof StoreError && !reason.final && reason.message.includes("not this one"), String(reason));
    assert.equal(store.stats().transactions, 1);
    assert.deepEqual(
      (await urls.scan({ from: "", to: "~", limit: 9 })).map(({ key }) => key),
      ["a", "b"],
    );
    await store.close();
  });

  test("when the transaction itself is lost, all its writes reject, none stands, and the next ones go on", async (context) => {
    const folder = await temporaryFolder(context);
    const store = await openTestStore(folder);
    alter(
      folder,
      "CREATE TRIGGER no BEFORE INSERT ON table_urls WHEN new.key = 'bad' BEGIN SELECT raise(ROLLBACK, 'all gone'); END",
    );
    const urls = store.table("urls");
    const queue = store.queue("host");
    assert.equal(await queue.depth(), 0);
    const lost = [
      urls.insertIfAbsent([row("a")]),
      queue.publish([new Uint8Array(1)]),
      urls.insertIfAbsent([row("bad")]),
      urls.insertIfAbsent([row("b")]),
    ];
    for (const { status } of await Promise.allSettled(lost)) assert.equal(status, "rejected");
    assert.equal(await queue.depth(), 0);
    assert.deepEqual(await queue.pull(1), []);
    assert.deepEqual(await urls.scan({ from: "", to: "~", limit: 9 }), []);
    assert.deepEqual(await urls.insertIfAbsent([row("a")]), [true]);
    await queue.publish([new Uint8Array(1)]);
    assert.equal((await queue.pull(2)).length, 1);
    await store.close();
  });
});

describe("opening and closing", () => {
  test("what was written is there after closing and opening again, and tables are apart from each other", async (context) => {
    const folder = join(await temporaryFolder(context), "made", "by the store");
    const before = await openTestStore(folder, { durability: "power" });
    await before.table("urls").insertIfAbsent([row("key", "of urls")]);
    await before.table("hosts").insertIfAbsent([row("key", "of hosts")]);
    await before.meta.set("started", "1");
    await before.meta.set("started", "2");
    await before.close();
    assert.deepEqual((await readdir(folder)).sort(), ["lock.sqlite", "state.sqlite"]);

    const store = await openTestStore(folder, { durability: "power" });
    assert.deepEqual(await store.table("urls").get(["key"]), [row("key", "of urls")]);
    assert.deepEqual(await store.table("hosts").get(["key"]), [row("key", "of hosts")]);
    assert.deepEqual(
      [await store.meta.get("started"), await store.meta.get("format"), await store.meta.get("none")],
      ["2", "2", undefined],
    );
    await assert.rejects(store.meta.set("format", "2"), StoreError);
    await store.close();
  });

  test("close answers what was asked before, refuses what comes after, and may come twice", async () => {
    const { store, close } = await makeTestStore();
    const asked = store.table("urls").insertIfAbsent([row("before")]);
    const closed = [store.close(), store.close()];
    await assert.rejects(store.table("urls").get(["after"]), (error) => error instanceof StoreError && error.final);
    assert.deepEqual(await asked, [true]);
    await Promise.all(closed);
    await close();
  });

  test("a second opener, in this process or another, is refused with a line that names the folder; the first goes on", async (context) => {
    const folder = await temporaryFolder(context);
    const store = await openTestStore(folder);
    await assert.rejects(openTestStore(folder), isFinal(folder, /in use/));
    assert.match(await openInChild(folder), /in use/);
    assert.deepEqual(await store.table("urls").insertIfAbsent([row("a")]), [true]);
    await store.close();
    assert.equal(await openInChild(folder), "opened");
  });

  const unusable: [situation: string, spoil: (folder: string) => Promise<unknown>, says: RegExp][] = [
    [
      "of a later version",
      async (folder) => alter(folder, "UPDATE meta SET value = '3' WHERE key = 'format'"),
      /another version.*"3".*reads 2/,
    ],
    ["without a version", async (folder) => alter(folder, "DELETE FROM meta"), /not a database of this program/],
    [
      "with a database of another program",
      async (folder) => alter(folder, "DROP TABLE meta"),
      /not a database of this program/,
    ],
    [
      "with a text in the database's place",
      (folder) => writeFile(join(folder, "state.sqlite"), "Some text. ".repeat(1000)),
      /not a database/,
    ],
  ];
  for (const [situation, spoil, says] of unusable) {
    test(`a folder ${situation} is refused by store and reader, and not changed`, async (context) => {
      const folder = await temporaryFolder(context);
      await (await openTestStore(folder)).close();
      await spoil(folder);
      const before = await contents(folder);
      await assert.rejects(openTestStore(folder), isFinal(folder, says));
      await assert.rejects(openTestStore(folder), isFinal(folder, says), "the lock was kept");
      assert.deepEqual(await contents(folder), before);
      await assert.rejects(openSqliteReader(folder), isFinal(folder, says));
    });
  }

  test("a folder in which only a foreign database stands gets no lock file", async (context) => {
    const folder = await temporaryFolder(context);
    await writeFile(join(folder, "state.sqlite"), "Some text. ".repeat(1000));
    await assert.rejects(openTestStore(folder), isFinal(folder, /not a database/));
    assert.deepEqual(await readdir(folder), ["state.sqlite"]);
  });

  test("a file in the folder's place, and a folder below a file, are refused as not writable", async (context) => {
    const folder = await temporaryFolder(context);
    const file = join(folder, "file");
    await writeFile(file, "");
    for (const path of [file, join(file, "below")])
      await assert.rejects(openTestStore(path), isFinal(path, /cannot be written/));
    assert.deepEqual(await readdir(folder), ["file"]);
  });

  test("a table or a queue that the store was not opened with, or with no good name, is our own mistake", async () => {
    const { store, close } = await makeTestStore();
    assert.throws(() => store.table("pages"), /'pages' is none of urls, hosts/);
    assert.throws(() => store.queue("urls"), /'urls' is none of host/);
    await close();
    const options = { folder: "never made", queues: [], durability: "process" } as const;
    await assert.rejects(openSqliteStore({ ...options, tables: ['a"; DROP TABLE meta'] }), /is not a name for a table/);
  });
});

describe("reading beside the writer", () => {
  test("a reader sees each committed write of a running store, and writes nothing", async (context) => {
    const folder = await temporaryFolder(context);
    const store = await openTestStore(folder);
    const reader = await openSqliteReader(folder);
    const urls = reader.table("urls");
    for (const key of ["a", "b", "c"]) {
      await store.table("urls").insertIfAbsent([row(key)]);
      assert.deepEqual(await urls.get([key]), [row(key)]);
    }
    assert.deepEqual(
      (await urls.scan({ from: "b", to: "~", limit: 9 })).map(({ key }) => key),
      ["b", "c"],
    );
    assert.equal(await reader.meta.get("format"), "2");
    for (const write of [urls.insertIfAbsent([row("d")]), urls.compareAndSet(row("a"), "1"), urls.delete([{ key: "a" }])])
      await assert.rejects(write, /reading only/);
    await assert.rejects(reader.table("unknown").get(["a"]), StoreError);
    await reader.close();
    await reader.close();
    await store.close();
  });

  test("a reader works where no store is open, and a store opens and closes beside it", async (context) => {
    const folder = await temporaryFolder(context);
    const first = await openTestStore(folder);
    await first.table("urls").insertIfAbsent([row("a")]);
    await first.close();
    const reader = await openSqliteReader(folder);
    assert.deepEqual(await reader.table("urls").get(["a"]), [row("a")]);
    const second = await openTestStore(folder);
    await second.table("urls").insertIfAbsent([row("b")]);
    await second.close();
    assert.deepEqual(await reader.table("urls").get(["b"]), [row("b")]);
    await reader.close();
  });

  test("a folder without a crawl is refused, and stays as it is", async (context) => {
    const folder = await temporaryFolder(context);
    await assert.rejects(openSqliteReader(folder), isFinal(folder, /holds no crawl/));
    await assert.rejects(openSqliteReader(join(folder, "absent")), isFinal(folder, /holds no crawl/));
    assert.deepEqual(await readdir(folder), []);
  });
});

describe("the thread", () => {
  const options = { folder: "some folder", tables: [], queues: [], durability: "process" } as const;
  const script = (source: string): URL => new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const opens = 'import { parentPort } from "node:worker_threads"; parentPort.postMessage({ kind: "opened" });';

  const crashes: [how: string, source: string][] = [
    ["throws", `${opens} parentPort.on("message", () => { throw new Error("broken"); });`],
    ["exits", `${opens} parentPort.on("message", () => process.exit(3));`],
  ];
  for (const [how, source] of crashes) {
    test(`when it ${how}, everything asked before and after rejects with a final StoreError, and close resolves`, async () => {
      const thread = await startStoreThread(script(source), options);
      const asked = [thread.ask({ operation: "getMeta", key: "a" }), thread.ask({ operation: "getMeta", key: "b" })];
      for (const one of asked) await assert.rejects(one, isFinal("some folder", /crashed/));
      await assert.rejects(thread.ask({ operation: "getMeta", key: "c" }), isFinal("some folder", /crashed/));
      await thread.close();
    });
  }

  test("when it ends before the database is open, opening rejects", async () => {
    await assert.rejects(startStoreThread(script("process.exit(1)"), options), isFinal("some folder", /crashed/));
    await assert.rejects(startStoreThread(script("throw new Error('early')"), options), isFinal("some folder", /early/));
  });

  test("it keeps a process alive while it owes an answer, and no longer, closed or not", async (context) => {
    const folder = await temporaryFolder(context);
    assert.equal(await openInChild(folder), "opened");
    assert.equal(await openInChild(folder, "--leave-open"), "opened");
    assert.equal(await openInChild(folder, "--leave-open", "--unused"), "opened");
  });
});

const CHILD_MS_MAX = 15_000; // a child that hangs is ended, and its test fails

function row(key: string, value = "value"): Row {
  return { key, rev: "1", value: Uint8Array.from(Buffer.from(value)) };
}

function isFinal(folder: string, says: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof StoreError && error.final, String(error));
    assert.ok(error.message.includes(folder) && !error.message.includes("\n"), error.message);
    assert.match(error.message, says);
    return true;
  };
}

function alter(folder: string, sql: string): void {
  const database = new DatabaseSync(join(folder, "state.sqlite"));
  database.exec(sql);
  database.close();
}

async function contents(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, (await readFile(join(folder, name))).toString("base64")])),
  );
}

/** What a process of its own says that opens the folder, writes and ends. Its standard error must stay empty. */
async function openInChild(folder: string, ...flags: string[]): Promise<string> {
  const script = new URL("./store-child.ts", import.meta.url);
  const child = spawn(process.execPath, [script.pathname, "open", folder, ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: CHILD_MS_MAX,
    killSignal: "SIGKILL",
  });
  const [said, warned] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => Buffer.concat(await stream.toArray()).toString()),
  );
  assert.equal(warned, "");
  return said!.trim();
}

describe("a guest", () => {
  test("works beside the owner: each sees what the other wrote, and compare-and-set lets one of the two win", async (context) => {
    const folder = await temporaryFolder(context);
    const owner = await openTestStore(folder);
    const guest = await openTestStore(folder, { guest: true });
    const [ours, theirs] = [owner.table("urls"), guest.table("urls")];
    await ours.insertIfAbsent([row("a")]);
    const [found] = await theirs.get(["a"]);
    const results = await Promise.all([
      ours.compareAndSet({ key: "a", rev: "owner", value: new Uint8Array() }, found!.rev),
      theirs.compareAndSet({ key: "a", rev: "guest", value: new Uint8Array() }, found!.rev),
    ]);
    assert.equal(results.filter(Boolean).length, 1);
    const winner = results[0] ? "owner" : "guest";
    assert.deepEqual([(await ours.get(["a"]))[0]?.rev, (await theirs.get(["a"]))[0]?.rev], [winner, winner]);
    await guest.close();
    await ours.insertIfAbsent([row("b")]);
    await owner.close();
  });

  test("is one at a time, and opens only what stands", async (context) => {
    const folder = await temporaryFolder(context);
    await assert.rejects(openTestStore(join(folder, "none"), { guest: true }), /none/);
    assert.deepEqual(await readdir(folder), []);
    await (await openTestStore(folder)).close();
    const guest = await openTestStore(folder, { guest: true });
    await assert.rejects(openTestStore(folder, { guest: true }), /another daily run works on/);
    await (await openTestStore(folder)).close();
    await guest.close();
  });
});
