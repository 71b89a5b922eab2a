import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bigtableClient } from "../../../io/stores/bigtable/client.ts";
import { setUpBigtable } from "../../../io/stores/bigtable/set-up.ts";
import { bigtableTable } from "../../../io/stores/bigtable/table.ts";
import type { Labels, Metrics } from "../../../ports/metrics.ts";
import { type Row, StoreError, type VersionedTable } from "../../../ports/versioned-table.ts";
import { versionedTableContract } from "../../contracts/versioned-table.ts";
import { cloudTests } from "../../emulators/cloud-tests.ts";

await cloudTests({ bigtable: true }, (emulators) => {
  versionedTableContract("on Bigtable's emulator", async () => {
    const { table, close } = await opened("contract");
    return { table, close };
  });

  let made: Awaited<ReturnType<typeof opened>>;
  let table: VersionedTable;
  before(async () => {
    made = await opened("calls");
    table = made.table;
  });
  after(() => made.close());

  const rows = (prefix: string, count: number): Row[] =>
    Array.from({ length: count }, (_, at) => ({ key: `${prefix}/${at}`, rev: `rev-${at}`, value: Uint8Array.of(at % 256) }));

  const operations: [name: string, run: () => Promise<unknown>, calls: Record<string, number>][] = [
    ["a batch of 500 keys is read", () => table.get(rows("calls", 500).map(({ key }) => key)), { ReadRows: 1 }],
    ["1,500 keys are read", () => table.get(rows("calls", 1500).map(({ key }) => key)), { ReadRows: 2 }],
    ["one key is asked for ten times", () => table.get(Array(10).fill("calls/0")), { ReadRows: 1 }],
    ["no key, or the empty one, is asked for", async () => [await table.get([]), await table.get([""])], {}],
    ["a range is scanned", () => table.scan({ from: "calls/", to: "calls0", limit: 100 }), { ReadRows: 1 }],
    ["a range that can hold nothing is scanned", () => table.scan({ from: "b", to: "a", limit: 9 }), {}],
    ["a range up to the empty key is scanned", () => table.scan({ from: "", to: "", limit: 9 }), {}],
    ["ten rows are inserted", () => table.insertIfAbsent(rows("calls", 10)), { CheckAndMutateRow: 10 }],
    ["a row is replaced", () => table.compareAndSet({ ...rows("calls", 1)[0]!, rev: "n" }, "rev-0"), { CheckAndMutateRow: 1 }],
    ["a row is not replaced", () => table.compareAndSet({ ...rows("calls", 1)[0]!, rev: "o" }, "p"), { CheckAndMutateRow: 1 }],
    ["six hundred rows are put", () => table.put(rows("blind", 600)), { MutateRows: 1 }],
    ["1,500 rows are dropped", () => table.drop(rows("blind", 1500).map(({ key }) => key)), { MutateRows: 2 }],
    [
      "eight callers put and drop at once",
      () =>
        Promise.all([
          ...rows("crowd", 4).map((row) => table.put([row])),
          ...rows("crowd", 4).map((row) => table.drop([row.key])),
        ]),
      { MutateRows: 1 },
    ],
    ["eight callers read at once", () => Promise.all(rows("crowd", 8).map(({ key }) => table.get([key]))), { ReadRows: 1 }],
    ["two rows are deleted", () => table.delete([{ key: "calls/1" }, { key: "calls/2", rev: "x" }]), { CheckAndMutateRow: 2 }],
  ];
  for (const [name, run, calls] of operations) {
    test(`${name}: ${JSON.stringify(calls)}`, async () => {
      made.counted.clear();
      await run();
      assert.deepEqual(Object.fromEntries(made.counted), calls);
    });
  }

  test("an insert of six hundred rows, of which some stand, is answered in order", async () => {
    const many = rows("many", 600);
    await table.insertIfAbsent(many.filter((_, at) => at % 3 === 0));
    assert.deepEqual(
      await table.insertIfAbsent(many),
      many.map((_, at) => at % 3 !== 0),
    );
  });

  test("a row has one cell, however often it is written", async () => {
    await table.insertIfAbsent([{ key: "cells", rev: "0", value: new Uint8Array(0) }]);
    for (let at = 0; at < 5; at++)
      assert.equal(
        await table.compareAndSet({ key: "cells", rev: String(at + 1), value: new Uint8Array(0) }, String(at)),
        true,
      );
    const [cells] = await made.client.instance("i").table("calls-t").row("cells").get({ decode: false });
    assert.deepEqual(
      Object.values(cells.data).flatMap((columns) => Object.values(columns as object).map((one) => one.length)),
      [1],
    );
  });

  const odd: [what: string, rev: string][] = [
    ["the empty text", ""],
    ["22 characters of base64url", "AAECAwQFBgcICQoLDA0ODw"],
    ["bytes of 0xff", "_____w"],
    ["a NUL", "\0"],
    ["the last character", "\u{10FFFF}"],
    ["characters of regular expressions", ".*\\C+[^a](?s)$|\n"],
    ["126 bytes", "é".repeat(63)],
  ];
  for (const [what, rev] of odd) {
    test(`a rev of ${what} comes back, is compared whole, and is deleted by`, async () => {
      const key = `odd/${what}`;
      const row = { key, rev, value: Uint8Array.of(1) };
      await table.insertIfAbsent([row]);
      assert.deepEqual(await table.get([key]), [row]);
      for (const other of ["x", `${rev}A`, Array.from(rev).slice(0, -1).join(""), "AAECAwQFBgcICQoLDA0ODg"].filter(
        (one) => one !== rev,
      ))
        assert.equal(await table.compareAndSet({ ...row, rev: "next" }, other), false, other);
      assert.equal(await table.compareAndSet({ ...row, value: Uint8Array.of(2) }, rev), true);
      assert.deepEqual(await table.delete([{ key, rev }]), [true]);
    });
  }

  test("a rev that no row can have is equal to none", async () => {
    const rev = "r".repeat(200);
    await table.insertIfAbsent([{ key: "long-rev", rev: "1", value: new Uint8Array(0) }]);
    assert.equal(await table.compareAndSet({ key: "long-rev", rev: "2", value: new Uint8Array(0) }, rev), false);
    assert.deepEqual(await table.delete([{ key: "long-rev", rev }]), [false]);
  });

  const value = new Uint8Array(0);
  const tooLong: [what: string, run: () => Promise<unknown>][] = [
    ["a key of 4,096 bytes", () => table.insertIfAbsent([{ key: "k".repeat(4096), rev: "1", value }])],
    ["a key of 4,096 bytes that is read", () => table.get(["ß".repeat(2048)])],
    ["an empty key", () => table.insertIfAbsent([{ key: "", rev: "1", value }])],
    ["a rev of 127 bytes", () => table.insertIfAbsent([{ key: "k", rev: "r".repeat(127), value }])],
    ["a value beyond 10 MiB", () => table.compareAndSet({ key: "k", rev: "1", value: new Uint8Array(10 * 2 ** 20 + 1) }, "0")],
    ["a range with an end of 5,000 bytes", () => table.scan({ from: "k".repeat(5000), to: "z", limit: 1 })],
  ];
  for (const [what, run] of tooLong) {
    test(`${what} is refused without a call, in a line that names the table`, async () => {
      made.counted.clear();
      await assert.rejects(run, (error) => error instanceof StoreError && !error.final && /calls-t/.test(error.message));
      assert.equal(made.counted.size, 0);
    });
  }

  test("the longest key and the page behind it are read", async () => {
    const key = "k".repeat(4095);
    await table.insertIfAbsent([{ key, rev: "1", value }]);
    assert.equal((await table.scan({ from: key, to: "l", limit: 2 })).length, 1);
    assert.deepEqual(await table.scan({ from: `${key}\0`, to: "l", limit: 2 }), []);
  });

  /** A table of its own, set up anew, and the calls that were made for it. */
  async function opened(tablePrefix: string) {
    const client = bigtableClient({ project: "p", emulator: emulators().endpoint("bigtable") });
    const counted = new Map<string, number>();
    const options = { client, instance: "i", tablePrefix, metrics: countingCalls(counted) };
    await setUpBigtable({ ...options, tables: ["t"] });
    return { client, counted, table: bigtableTable({ ...options, table: "t" }), close: () => client.close().then(() => {}) };
  }
});

function countingCalls(counted: Map<string, number>): Metrics {
  return {
    count(name: string, by = 1, labels: Labels = {}) {
      if (name !== "gleaner_bigtable_calls_total") return;
      const method = labels.method ?? "?";
      counted.set(method, (counted.get(method) ?? 0) + by);
    },
    gauge() {},
    observe() {},
  };
}
