// A database that is damaged, cut short or locked by others: what is read is what was written, or it is refused with a line that says so.
import assert from "node:assert/strict";
import { copyFile, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openSqliteReader } from "../../io/stores/sqlite-reader.ts";
import { openSqliteStore } from "../../io/stores/sqlite-store.ts";
import { type Row, StoreError } from "../../ports/versioned-table.ts";
import { numbers } from "../io/objects/given.ts";
import { temporaryFolder } from "../io/stores/opened-store.ts";

const ROWS = 400;
const TURNS = 16; // each opens a store of its own
const options = { tables: ["urls", "hosts"], queues: ["host"], durability: "process" } as const;

function row(at: number, table: string): Row {
  const key = `${at.toString(16).padStart(4, "0")}/${table}`;
  return { key, rev: `rev-${at}`, value: Buffer.from(`value of ${key} `.repeat(1 + (at % 9))) };
}

/** Closed, with what a crawl keeps in it. */
async function filledFolder(folder: string): Promise<string> {
  const store = await openSqliteStore({ folder, ...options });
  for (const table of options.tables)
    await store.table(table).insertIfAbsent(Array.from({ length: ROWS }, (_, at) => row(at, table)));
  await store.queue("host").publish(Array.from({ length: 50 }, (_, at) => Buffer.from(`message ${at} `.repeat(5))));
  await store.meta.set("config", '{"seeds":["http://a.test/"]}');
  await store.close();
  return join(folder, "state.sqlite");
}

/** Reads and writes all there is; asserts that every answer is right. Rejects with what refuses. */
async function readAll(folder: string): Promise<void> {
  const store = await openSqliteStore({ folder, ...options });
  try {
    for (const table of options.tables) {
      const rows = await store.table(table).scan({ from: "", to: "~", limit: 9999 });
      assert.deepEqual(
        rows.map(plain),
        Array.from({ length: ROWS }, (_, at) => plain(row(at, table))),
      );
      for (let at = 0; at < ROWS; at += 50) {
        const wanted = row(at, table);
        const [found] = await store.table(table).get([wanted.key]);
        assert.deepEqual(found && plain(found), plain(wanted));
        assert.ok(await store.table(table).compareAndSet({ ...wanted, rev: "next" }, wanted.rev));
      }
    }
    const messages = await store.queue("host").pull(99);
    assert.deepEqual(
      messages.map(({ body }) => Buffer.from(body).toString()),
      Array.from({ length: 50 }, (_, at) => `message ${at} `.repeat(5)),
    );
    await store.queue("host").acknowledge(messages.map(({ id }) => id));
    assert.equal(await store.meta.get("config"), '{"seeds":["http://a.test/"]}');
  } finally {
    await store.close();
  }
}

const plain = ({ key, rev, value }: Row) => `${key} ${rev} ${Buffer.from(value).toString()}`;

test("whichever bytes of the database are flipped, every answer is right or a StoreError", async (context) => {
  const folder = await temporaryFolder(context);
  const file = await filledFolder(folder);
  const whole = await readFile(file);
  const random = numbers(7);
  let refused = 0;
  for (let turn = 0; turn < TURNS; turn++) {
    const damaged = Buffer.from(whole);
    const flips = Array.from({ length: 1 + Math.floor(random() * 3) }, () => Math.floor(random() * whole.length));
    for (const at of flips) damaged[at]! ^= 1 << Math.floor(random() * 8);
    await writeFile(file, damaged);
    await readAll(folder).catch((error) => {
      assert.ok(error instanceof StoreError, `flips at ${flips.join()}: ${String(error)}`);
      assert.ok(error.message.includes(folder) && !error.message.includes("\n"), error.message);
      refused++;
    });
  }
  assert.ok(refused > TURNS / 3, `only ${refused} of ${TURNS} damages met anything`);
});

test("a database cut short anywhere is refused as damaged or foreign, and stays as it is", async (context) => {
  const folder = await temporaryFolder(context);
  const file = await filledFolder(folder);
  const whole = join(folder, "whole");
  await copyFile(file, whole);
  const { length } = await readFile(whole);
  for (const bytes of [1, 15, 99, 100, 1000, 4095, 4096, 4097, length >> 1, length - 4096]) {
    await copyFile(whole, file);
    await truncate(file, bytes);
    await assert.rejects(
      openSqliteStore({ folder, ...options }),
      (error) => error instanceof StoreError && error.final && /is damaged|is not a database of/.test(error.message),
      `${bytes} of ${length} bytes`,
    );
    assert.equal((await readFile(file)).length, bytes);
    const reader = openSqliteReader(folder).then(async (open) => {
      for (const table of options.tables) await open.table(table).scan({ from: "", to: "~", limit: 9999 });
    });
    await assert.rejects(reader, StoreError, `a reader, ${bytes} bytes`);
  }
  await copyFile(whole, file);
  await truncate(file, length - 1); // SQLite reads the missing byte as a zero
  await readAll(folder).catch((error) => assert.ok(error instanceof StoreError, String(error)));
  await copyFile(whole, file);
  await readAll(folder);
});

test("a row whose value was changed behind our back is damage, in the store and in a reader", async (context) => {
  const folder = await temporaryFolder(context);
  const file = await filledFolder(folder);
  for (const change of [
    `UPDATE "table_urls" SET value = CAST('other' AS BLOB)`,
    `UPDATE "table_urls" SET rev = 'other'`,
    `UPDATE "table_urls" SET value = x''`,
  ]) {
    const database = new DatabaseSync(file);
    database.exec(change);
    database.close();
    const damaged = (error: unknown) =>
      error instanceof StoreError && error.final && /is damaged.*a row of urls/.test(error.message);
    const store = await openSqliteStore({ folder, ...options });
    await assert.rejects(store.table("urls").get([row(0, "urls").key]), damaged);
    await assert.rejects(store.table("urls").scan({ from: "", to: "~", limit: 5 }), damaged);
    assert.ok((await store.table("hosts").get([row(0, "hosts").key]))[0] !== undefined, "other tables go on");
    await store.close();
    const reader = await openSqliteReader(folder);
    await assert.rejects(reader.table("urls").get([row(0, "urls").key]), damaged);
    await reader.close();
  }
});

test("while another program holds the database locked writes fail for now and reads go on; afterwards all is well", async (context) => {
  const folder = await temporaryFolder(context);
  const store = await openSqliteStore({ folder, ...options, busyMs: 30 });
  const urls = store.table("urls");
  await urls.insertIfAbsent([row(1, "urls")]);
  const other = new DatabaseSync(join(folder, "state.sqlite"));
  other.exec("BEGIN IMMEDIATE");
  const locked = (error: unknown) =>
    error instanceof StoreError && !error.final && /kept locked by another program/.test(error.message);
  await assert.rejects(urls.insertIfAbsent([row(2, "urls")]), locked);
  assert.equal((await urls.get([row(1, "urls").key]))[0]?.rev, "rev-1");
  other.exec("ROLLBACK");
  assert.deepEqual(await urls.insertIfAbsent([row(2, "urls")]), [true]);
  await store.close();
  other.exec("BEGIN EXCLUSIVE");
  await assert.rejects(openSqliteStore({ folder, ...options, busyMs: 30 }), locked);
  other.exec("ROLLBACK");
  other.close();
  const again = await openSqliteStore({ folder, ...options });
  assert.equal((await again.table("urls").scan({ from: "", to: "~", limit: 9 })).length, 2);
  await again.close();
});
