// What must hold of every versioned table, whatever keeps it? Registers one suite for one adapter.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type Row, StoreError, type VersionedTable } from "../../ports/versioned-table.ts";
import { row } from "./table-row.ts";
import { tableModel } from "./versioned-table-model.ts";

export interface MadeTable {
  table: VersionedTable;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;
const LAST = "\u{10FFFF}"; // no key of these tests is greater
const CONCURRENT = 50;

/** `make` gives an empty table; it is closed after the suite. Each test keeps to keys of its own. */
export function versionedTableContract(name: string, make: () => Promise<MadeTable>): void {
  describe(`versioned table: ${name}`, () => {
    let made: MadeTable;
    let table: VersionedTable;
    before(async () => {
      made = await make();
      table = made.table;
    });
    after(() => made.close());
    singleRows(() => table);
    manyRows(() => table);
    order(() => table);
    races(() => table);
    badInput(() => table);
    tableModel(() => table);
  });
}

function singleRows(of: () => VersionedTable): void {
  test("a key that was never written has no row", async () => {
    assert.deepEqual(await of().get(["absent"]), [undefined]);
  });

  test("an inserted row comes back as it was", async () => {
    assert.deepEqual(await of().insertIfAbsent([row("single/a", "rev-1", "value")]), [true]);
    assert.deepEqual(await of().get(["single/a"]), [row("single/a", "rev-1", "value")]);
  });

  test("a second insert of a key changes nothing", async () => {
    await of().insertIfAbsent([row("single/b", "1", "first")]);
    assert.deepEqual(await of().insertIfAbsent([row("single/b", "2", "second")]), [false]);
    assert.deepEqual(await of().get(["single/b"]), [row("single/b", "1", "first")]);
  });

  test("compare-and-set with the row's rev replaces rev and value", async () => {
    await of().insertIfAbsent([row("single/c", "1", "old")]);
    assert.equal(await of().compareAndSet(row("single/c", "2", "new"), "1"), true);
    assert.deepEqual(await of().get(["single/c"]), [row("single/c", "2", "new")]);
  });

  const misses: [situation: string, stands: Row[], expectedRev: string][] = [
    ["another rev", [row("single/d", "2", "stands")], "1"],
    ["no row", [], "1"],
    ["no row and an empty rev", [], ""],
    ["a rev that begins like the row's", [row("single/d", "12", "stands")], "1"],
  ];
  for (const [situation, stands, expectedRev] of misses) {
    test(`compare-and-set on ${situation} changes nothing`, async () => {
      await of().delete([{ key: "single/d" }]);
      await of().insertIfAbsent(stands);
      assert.equal(await of().compareAndSet(row("single/d", "3", "new"), expectedRev), false);
      assert.deepEqual(await of().get(["single/d"]), [stands[0]]);
    });
  }

  test("a delete with the row's rev, or with none, removes it; with another rev it does not", async () => {
    await of().insertIfAbsent([row("single/e", "1"), row("single/f", "1"), row("single/g", "1")]);
    const asked = [{ key: "single/e", rev: "1" }, { key: "single/f", rev: "2" }, { key: "single/g" }, { key: "single/h" }];
    assert.deepEqual(await of().delete(asked), [true, false, true, false]);
    assert.deepEqual(await of().get(["single/e", "single/f", "single/g"]), [undefined, row("single/f", "1"), undefined]);
  });

  test("what is put stands whatever stood before, and a compare-and-set with the rev from before comes too late", async () => {
    await of().insertIfAbsent([row("put/a", "1", "before")]);
    await of().put([row("put/a", "2", "put"), row("put/b", "3", "new")]);
    assert.deepEqual(await of().get(["put/a", "put/b"]), [row("put/a", "2", "put"), row("put/b", "3", "new")]);
    assert.equal(await of().compareAndSet(row("put/a", "4"), "1"), false);
    assert.deepEqual(await of().insertIfAbsent([row("put/b", "5")]), [false]);
    await of().put([row("put/b", "3", "new")]);
    assert.deepEqual(await of().get(["put/b"]), [row("put/b", "3", "new")]);
  });

  test("what is dropped is gone, whether it stood or not, and nothing beside it", async () => {
    await of().insertIfAbsent([row("drop/a", "1"), row("drop/b", "1"), row("drop/c", "1")]);
    await of().drop(["drop/a", "drop/none", "drop/c", "drop/a"]);
    await of().drop(["drop/a"]);
    assert.deepEqual(await of().scan({ from: "drop/", to: "drop0", limit: 9 }), [row("drop/b", "1")]);
    assert.deepEqual(await of().insertIfAbsent([row("drop/a", "2")]), [true]);
  });

  test("a deleted key can be inserted again, and its old rev is no longer good", async () => {
    await of().insertIfAbsent([row("single/i", "1")]);
    await of().delete([{ key: "single/i" }]);
    assert.equal(await of().compareAndSet(row("single/i", "2"), "1"), false);
    assert.deepEqual(await of().insertIfAbsent([row("single/i", "3")]), [true]);
  });

  for (const size of [0, 1, MIB]) {
    test(`a value of ${size} bytes comes back as it was`, async () => {
      const value = Uint8Array.from({ length: size }, (_, at) => at % 251);
      await of().insertIfAbsent([{ key: `size/${size}`, rev: "1", value }]);
      const [found] = await of().get([`size/${size}`]);
      assert.ok(found?.value instanceof Uint8Array);
      assert.equal(Buffer.compare(found.value, value), 0);
    });
  }

  test("bytes that the caller changes after a write, or after a read, change no row", async () => {
    const value = Buffer.from("before");
    const writing = of().insertIfAbsent([{ key: "single/j", rev: "1", value }]);
    value.fill(0);
    await writing;
    const [first] = await of().get(["single/j"]);
    first!.value.fill(0);
    assert.deepEqual(await of().get(["single/j"]), [row("single/j", "1", "before")]);
  });
}

function manyRows(of: () => VersionedTable): void {
  test("no keys and no rows give empty answers", async () => {
    assert.deepEqual(await of().get([]), []);
    assert.deepEqual(await of().insertIfAbsent([]), []);
    assert.deepEqual(await of().delete([]), []);
    await of().put([]);
    await of().drop([]);
  });

  test("a thousand rows are inserted, read, scanned and deleted in one call each", async () => {
    const rows = Array.from({ length: 1000 }, (_, at) =>
      row(`thousand/${String(at).padStart(4, "0")}`, `rev-${at}`, `value ${at}`),
    );
    const keys = rows.map(({ key }) => key);
    const shuffled = [...rows].reverse();
    assert.deepEqual(
      await of().insertIfAbsent(shuffled),
      shuffled.map(() => true),
    );
    assert.deepEqual(await of().get(keys), rows);
    assert.deepEqual(await of().scan({ from: "thousand/", to: "thousand0", limit: 2000 }), rows);
    assert.deepEqual(
      await of().delete(keys.map((key) => ({ key }))),
      keys.map(() => true),
    );
    assert.deepEqual(await of().scan({ from: "thousand/", to: "thousand0", limit: 1 }), []);
    await of().put(shuffled);
    assert.deepEqual(await of().scan({ from: "thousand/", to: "thousand0", limit: 2000 }), rows);
    await of().drop(keys);
    assert.deepEqual(await of().scan({ from: "thousand/", to: "thousand0", limit: 1 }), []);
  });

  test("the rows of one insert are independent: those that stand are refused, the others are not", async () => {
    await of().insertIfAbsent([row("mixed/b", "old")]);
    assert.deepEqual(await of().insertIfAbsent([row("mixed/a"), row("mixed/b"), row("mixed/c")]), [true, false, true]);
    assert.equal((await of().get(["mixed/b"]))[0]?.rev, "old");
  });

  test("a key twice in one call: the first insert and the first delete win, both reads answer, the last put stands", async () => {
    assert.deepEqual(await of().insertIfAbsent([row("twice", "1"), row("twice", "2")]), [true, false]);
    assert.deepEqual(await of().get(["twice", "twice"]), [row("twice", "1"), row("twice", "1")]);
    assert.deepEqual(await of().delete([{ key: "twice" }, { key: "twice" }]), [true, false]);
    await of().put([row("twice", "3"), row("twice", "4")]);
    assert.deepEqual(await of().get(["twice"]), [row("twice", "4")]);
  });

  test("answers are in the order of the keys asked for", async () => {
    await of().insertIfAbsent([row("asked/1"), row("asked/2")]);
    const found = await of().get(["asked/2", "asked/3", "asked/1"]);
    assert.deepEqual(
      found.map((one) => one?.key),
      ["asked/2", undefined, "asked/1"],
    );
  });
}

function order(of: () => VersionedTable): void {
  // UTF-16 order puts U+1F600 (a surrogate pair) before U+FF5E; byte order does not.
  const inOrder = [
    "",
    "\0",
    "\0a",
    "!",
    "A",
    "a",
    "a\0",
    "a\0b",
    "aa",
    "b",
    "~",
    "\x7f",
    "\x80",
    "ß",
    "é",
    "日本",
    "\uD7FF",
    "\uE000",
    "\uFF5E",
    "\uFFFD",
    "\uFFFF",
    "\u{10000}",
    "\u{1F600}",
    "\u{10FFFF}",
  ].map((key) => `order/${key}`);

  test("keys order by their UTF-8 bytes", async () => {
    await of().insertIfAbsent([...inOrder].reverse().map((key) => row(key)));
    assert.deepEqual(
      inOrder,
      [...inOrder].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    assert.deepEqual(await scanned({ from: "order/", to: "order0", limit: 100 }), inOrder);
  });

  test("every range takes from its beginning and stops before its end", async () => {
    for (const [at, from] of inOrder.entries()) {
      for (const to of [inOrder[0]!, from, inOrder[at + 1] ?? "order0", "order0"]) {
        const expected = inOrder.filter(
          (key) =>
            Buffer.compare(Buffer.from(key), Buffer.from(from)) >= 0 && Buffer.compare(Buffer.from(key), Buffer.from(to)) < 0,
        );
        assert.deepEqual(await scanned({ from, to, limit: 100 }), expected, JSON.stringify({ from, to }));
      }
    }
  });

  test("limits: none, one, as many as there are, more", async () => {
    for (const limit of [0, 1, inOrder.length, inOrder.length + 1, Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY])
      assert.deepEqual(await scanned({ from: "order/", to: "order0", limit }), inOrder.slice(0, limit), String(limit));
    assert.deepEqual(await scanned({ from: "order/", to: "order0", limit: -1 }), []);
  });

  test("pages that begin after the last key of the one before give every row once", async () => {
    const keys = Array.from({ length: 100 }, (_, at) => `pages/${String(at).padStart(3, "0")}`);
    await of().insertIfAbsent(keys.map((key) => row(key)));
    const seen: string[] = [];
    for (let from = "pages/"; ; from = `${seen.at(-1)}\0`) {
      const page = await scanned({ from, to: "pages0", limit: 7 });
      if (page.length === 0) break;
      seen.push(...page);
    }
    assert.deepEqual(seen, keys);
  });

  async function scanned(range: { from: string; to: string; limit: number }): Promise<string[]> {
    return (await of().scan(range)).map(({ key }) => key);
  }
}

function races(of: () => VersionedTable): void {
  const writers = Array.from({ length: CONCURRENT }, (_, at) => `writer-${at}`);

  test("of concurrent inserts of one key exactly one wins, and its row stands", async () => {
    const won = await Promise.all(writers.map(async (rev) => (await of().insertIfAbsent([row("race/insert", rev)]))[0]));
    assert.equal(won.filter(Boolean).length, 1);
    assert.deepEqual(await of().get(["race/insert"]), [row("race/insert", writers[won.indexOf(true)]!)]);
  });

  test("of concurrent compare-and-sets on one rev exactly one wins, and its row stands", async () => {
    await of().insertIfAbsent([row("race/set", "start")]);
    const won = await Promise.all(writers.map((rev) => of().compareAndSet(row("race/set", rev), "start")));
    assert.equal(won.filter(Boolean).length, 1);
    assert.deepEqual(await of().get(["race/set"]), [row("race/set", writers[won.indexOf(true)]!)]);
  });

  test("of concurrent deletes of one row exactly one wins", async () => {
    await of().insertIfAbsent([row("race/delete")]);
    const won = await Promise.all(writers.map(async () => (await of().delete([{ key: "race/delete" }]))[0]));
    assert.equal(won.filter(Boolean).length, 1);
  });

  test("no increment is lost when many read, add and compare-and-set until they win", async () => {
    await of().insertIfAbsent([row("race/count", "start", "0")]);
    await Promise.all(
      writers.slice(0, 10).map(async (writer) => {
        for (let done = 0, tries = 0; done < 5; tries++) {
          assert.ok(tries < 1000);
          const [found] = await of().get(["race/count"]);
          const next = row("race/count", `${writer}/${tries}`, String(Number(Buffer.from(found!.value)) + 1));
          if (await of().compareAndSet(next, found!.rev)) done++;
        }
      }),
    );
    assert.equal(Buffer.from((await of().get(["race/count"]))[0]!.value).toString(), "50");
  });
}

function badInput(of: () => VersionedTable): void {
  const lone = "bad/\ud800";
  const refused: [what: string, run: () => Promise<unknown>][] = [
    ["get of a key that is not well-formed", () => of().get([lone])],
    ["insert of such a key", () => of().insertIfAbsent([row(lone)])],
    ["insert of such a rev", () => of().insertIfAbsent([row("bad/rev", lone)])],
    [
      "insert of a value that is not bytes",
      () => of().insertIfAbsent([{ key: "bad/value", rev: "1", value: "text" as never }]),
    ],
    ["compare-and-set of such a key", () => of().compareAndSet(row(lone), "1")],
    ["delete of such a key", () => of().delete([{ key: lone }])],
    ["put of such a key", () => of().put([row("bad/put"), row(lone)])],
    ["put of a value that is not bytes", () => of().put([{ key: "bad/put", rev: "1", value: "text" as never }])],
    ["drop of such a key", () => of().drop(["bad/beside", lone])],
    ["scan from such a key", () => of().scan({ from: lone, to: LAST, limit: 1 })],
    ["scan with a limit that is no number", () => of().scan({ from: "", to: LAST, limit: Number.NaN })],
  ];

  test("what no table can keep is refused with StoreError, and what was asked beside it is done", async () => {
    const beside = of().insertIfAbsent([row("bad/beside")]);
    for (const [what, run] of refused) {
      await assert.rejects(run, (error) => error instanceof StoreError && !error.final, what);
    }
    assert.deepEqual(await beside, [true]);
    assert.deepEqual(
      (await of().scan({ from: "bad/", to: "bad0", limit: 10 })).map(({ key }) => key),
      ["bad/beside"],
    );
  });
}
