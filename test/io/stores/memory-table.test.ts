import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { memoryTable } from "../../../io/stores/memory-table.ts";
import { orderKey, sortedRows } from "../../../io/stores/sorted-rows.ts";
import { versionedTableContract } from "../../contracts/versioned-table.ts";

versionedTableContract("in memory", async () => ({ table: memoryTable(), close: async () => {} }));

test("an operation in memory completes with microtasks alone", async () => {
  let macrotask = false;
  const immediate = setImmediate(() => {
    macrotask = true;
  });
  const table = memoryTable();
  await table.insertIfAbsent([{ key: "a", rev: "1", value: new Uint8Array(1) }]);
  await table.get(["a"]);
  await table.scan({ from: "", to: "b", limit: 1 });
  await table.delete([{ key: "a" }]);
  assert.equal(macrotask, false);
  clearImmediate(immediate);
});

test("order keys compare as the UTF-8 bytes of the keys, for any two", () => {
  const key = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(key, key, (a, b) => {
      const byUnits = orderKey(a) < orderKey(b) ? -1 : orderKey(a) > orderKey(b) ? 1 : 0;
      assert.equal(byUnits, Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test("tens of thousands of rows stay in order while they come and go at any place", () => {
  const rows = sortedRows();
  const names = Array.from({ length: 30_000 }, (_, at) => String((at * 7919) % 30_000).padStart(5, "0"));
  for (const key of names) rows.set({ key, rev: "1", value: new Uint8Array(0) });
  const inOrder = [...names].sort();
  assert.deepEqual(
    rows.scan({ from: "", to: "~", limit: 40_000 }).map(({ key }) => key),
    inOrder,
  );
  assert.deepEqual(
    rows.scan({ from: "12345", to: "12350", limit: 9 }).map(({ key }) => key),
    ["12345", "12346", "12347", "12348", "12349"],
  );
  const isKept = (key: string): boolean => Number(key) % 500 === 0;
  for (const key of names) if (!isKept(key)) assert.equal(rows.delete(key), true);
  assert.deepEqual(
    rows.scan({ from: "", to: "~", limit: 40_000 }).map(({ key }) => key),
    inOrder.filter(isKept),
  );
  for (const key of names) assert.equal(rows.delete(key), isKept(key));
  assert.deepEqual(rows.scan({ from: "", to: "~", limit: 1 }), []);
  rows.set({ key: "again", rev: "1", value: new Uint8Array(0) });
  assert.equal(rows.get("again")?.key, "again");
});

const orders: [name: string, order: (keys: string[]) => string[]][] = [
  ["forwards", (keys) => keys],
  ["backwards", (keys) => [...keys].reverse()],
  ["from the middle", (keys) => [...keys.slice(keys.length / 2), ...keys.slice(0, keys.length / 2)]],
];
for (const [name, order] of orders) {
  test(`rows deleted ${name} are gone one by one, and the others stay`, () => {
    const rows = sortedRows();
    const keys = Array.from({ length: 3000 }, (_, at) => String(at).padStart(4, "0"));
    for (const key of keys) rows.set({ key, rev: "1", value: new Uint8Array(0) });
    let left = keys.length;
    for (const key of order(keys)) {
      assert.equal(rows.delete(key), true, key);
      assert.equal(rows.get(key), undefined);
      left--;
      if (left % 100 === 0) assert.equal(rows.scan({ from: "", to: "~", limit: 4000 }).length, left);
    }
  });
}
