// Does a scan in pages give every row once, in order, and read no more than it is asked for?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { memoryTable } from "../../io/stores/memory-table.ts";
import { type Row, scanPages } from "../../ports/versioned-table.ts";

async function given(keys: readonly string[]) {
  const table = memoryTable();
  await table.insertIfAbsent(keys.map((key) => ({ key, rev: "1", value: new Uint8Array() })));
  let scans = 0;
  const counted = {
    scan(range: Parameters<typeof table.scan>[0]) {
      scans++;
      return table.scan(range);
    },
  };
  return { table, counted, scans: () => scans };
}

async function all(pages: AsyncGenerator<Row[]>): Promise<string[][]> {
  const found: string[][] = [];
  for await (const rows of pages) found.push(rows.map(({ key }) => key));
  return found;
}

const table: [situation: string, keys: string[], pages: string[][], scans: number][] = [
  ["no row", [], [], 1],
  ["less than a page", ["b"], [["b"]], 1],
  ["a full page: one more scan finds nothing, and no empty page comes", ["b", "c"], [["b", "c"]], 2],
  [
    "a key that begins with the last one of its page",
    ["b", "c", "c\u0000", "cc"],
    [
      ["b", "c"],
      ["c\u0000", "cc"],
    ],
    3,
  ],
  ["rows outside the range", ["a", "b", "c", "d", "x", "y"], [["b", "c"], ["d"]], 2],
];
for (const [situation, keys, pages, scans] of table)
  test(`pages of two from b to x: ${situation}`, async () => {
    const { counted, scans: asked } = await given(keys);
    assert.deepEqual(await all(scanPages(counted, { from: "b", to: "x", limit: 2 })), pages);
    assert.equal(asked(), scans);
  });

test("whoever stops early has asked for no further page", async () => {
  const { counted, scans } = await given(["a", "b", "c"]);
  for await (const [row] of scanPages(counted, { from: "", to: "z", limit: 1 })) {
    assert.equal(row?.key, "a");
    break;
  }
  assert.equal(scans(), 1);
});

test("rows that are taken away while their page is at hand do not hide the next ones", async () => {
  const { table: rows, counted } = await given(["a", "b", "c", "d", "e"]);
  const seen: string[] = [];
  for await (const page of scanPages(counted, { from: "", to: "z", limit: 2 })) {
    seen.push(...page.map(({ key }) => key));
    await rows.delete(page.map(({ key }) => ({ key })));
  }
  assert.deepEqual(seen, ["a", "b", "c", "d", "e"]);
});

test("whatever the keys, the pages together are one scan of all", async () => {
  const keysOf = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom("a", "b", "\u0000", "~") }));
  await fc.assert(
    fc.asyncProperty(keysOf, fc.integer({ min: 1, max: 5 }), async (keys, limit) => {
      const { table: rows } = await given(keys);
      const whole = await rows.scan({ from: "", to: "\u{10ffff}", limit: 1_000 });
      const pages = await all(scanPages(rows, { from: "", to: "\u{10ffff}", limit }));
      assert.deepEqual(
        pages.flat(),
        whole.map(({ key }) => key),
      );
      assert.ok(pages.every((page) => page.length > 0 && page.length <= limit));
    }),
    { numRuns: 100 },
  );
});
