import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { systemRandom } from "../../../io/random.ts";
import { cellsWithRev, decodeCell, encodeCell, REV_BYTES_MAX } from "../../../io/stores/bigtable/cell.ts";
import { eachRow } from "../../../io/stores/bigtable/each-row.ts";
import { type ReadChunk, rowReader } from "../../../io/stores/bigtable/read-chunks.ts";
import { firstSplits } from "../../../io/stores/bigtable/set-up.ts";
import { slots } from "../../../io/stores/bigtable/slots.ts";
import { encode } from "../../../schemas/codec.ts";
import { dueKey, hostDueKey, rowKey } from "../../../schemas/row-key.ts";
import { type UrlState, urlState } from "../../../schemas/url-state.ts";

const rev = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes).toString("base64url")),
  fc.constantFrom("", "_", "__", "____", "_____w", "AA", "12", "1"),
);
const value = fc.uint8Array({ maxLength: 40 });

test("any rev and value come back from their cell", () => {
  fc.assert(
    fc.property(rev, value, (rev, value) => {
      const cell = encodeCell({ rev, value });
      if (cell === undefined) return assert.ok(Buffer.byteLength(rev) > REV_BYTES_MAX || rev.length > 30);
      const found = decodeCell(cell)!;
      assert.deepEqual([found.rev, Buffer.from(found.value)], [rev, Buffer.from(value)]);
    }),
  );
});

test("of all cells those with a rev lie in its range, and no others", () => {
  fc.assert(
    fc.property(rev, rev, value, (one, other, value) => {
      const range = cellsWithRev(one);
      const cell = encodeCell({ rev: other, value });
      if (range === undefined || cell === undefined) return;
      const lies = Buffer.compare(range.startValueClosed, cell) <= 0 && Buffer.compare(cell, range.endValueOpen) < 0;
      assert.equal(lies, one === other);
    }),
    { numRuns: 1000 },
  );
});

test("bytes that are no cell of ours are none", () => {
  for (const bytes of [[], [1], [5, 1, 2], [130, 1], [255]]) assert.equal(decodeCell(Buffer.from(bytes)), undefined);
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void decodeCell(Buffer.from(bytes))));
});

test("rev and head take 17 bytes: a URL's cell has 170 at most up to four visits, its key 46; a due entry has 65 in all", () => {
  const token = systemRandom().token();
  assert.equal(encodeCell({ rev: token, value: new Uint8Array(0) })!.length, 17);
  const key = rowKey(HOST, ID);
  const cell = (state: UrlState): number => encodeCell({ rev: token, value: encode(urlState, state, key) })!.length;
  const due = dueKey({ paceKey: HOST, priority: 2, dueAt: AT, urlId: ID });
  const sizes = { discovered: cell(DISCOVERED), visited: cell(VISITED), key: key.length, due: due.length + 1 };
  const told = JSON.stringify(sizes);
  assert.equal(encodeCell({ rev: "", value: new Uint8Array(0) })!.length, 1);
  assert.ok(sizes.discovered <= 85 && sizes.visited <= 170 && sizes.due <= 65, told);
  assert.equal(sizes.key, 46, told);
});

const ID = "AAECAwQFBgcICQoLDA0ODw";
const HOST = "www.site-123456.test";
const AT = Date.UTC(2026, 10, 30, 12);
const DAY = 86_400_000;
const bytes = (size: number): Uint8Array => new Uint8Array(size).fill(7);
const DISCOVERED: UrlState = {
  canonicalUrl: `https://${HOST}/`.padEnd(80, "section/"),
  kind: "page",
  version: 0,
  docVersion: 0,
  depth: 3,
  hops: 0,
  priority: 1,
  discoveredAt: AT,
  nextFetchAt: AT,
  failureCount: 0,
};
const VISITED: UrlState = {
  ...DISCOVERED,
  version: 4,
  docVersion: 3,
  priority: 2,
  nextFetchAt: AT + 42 * DAY + 123,
  lastOutcome: "fetched",
  lastStatus: 200,
  lastFetchAt: AT + 30 * DAY + 456,
  lastLeaseId: "AAECAwQFBgcI",
  etag: '"5f3c2b1a-1d2e"',
  lastModified: "Sat, 15 Nov 2025 12:45:26 GMT",
  contentHash: bytes(20),
  simHash: bytes(8),
  linkSetHash: bytes(8),
  indexed: true,
  changeHistory: [7, 10, 15].map((days) => ({ afterMs: days * DAY, changed: days === 10 })),
};

const start = { rowKey: Buffer.from("a"), familyName: { value: "r" }, value: Buffer.from("1") };
const readings: [situation: string, chunks: ReadChunk[], rows: [key: string, cell: string][] | undefined | "refused"][] = [
  ["nothing", [], []],
  ["one row in one piece", [{ ...start, commitRow: true }], [["a", "1"]]],
  ["one row in three", [start, { value: Buffer.from("2") }, { value: Buffer.from("3"), commitRow: true }], [["a", "123"]]],
  ["an empty value", [{ ...start, value: Buffer.alloc(0), commitRow: true }], [["a", ""]]],
  [
    "a row taken back and given again",
    [start, { resetRow: true }, { ...start, value: Buffer.from("9"), commitRow: true }],
    [["a", "9"]],
  ],
  [
    "a row that does not end",
    [
      { ...start, commitRow: true },
      { ...start, rowKey: Buffer.from("b") },
    ],
    undefined,
  ],
  ["a piece without a beginning", [{ value: Buffer.from("2"), commitRow: true }], "refused"],
  ["a row without a key", [{ ...start, rowKey: Buffer.alloc(0), commitRow: true }], "refused"],
  ["a row with two cells", [start, { familyName: { value: "r" }, value: Buffer.from("2"), commitRow: true }], "refused"],
];
for (const [situation, chunks, expected] of readings) {
  test(`an answer of ${situation} gives ${JSON.stringify(expected) ?? "none"}`, () => {
    const reader = rowReader();
    const take = (): void => chunks.forEach((chunk) => void reader.take(chunk));
    if (expected === "refused") return assert.throws(take);
    take();
    assert.deepEqual(
      reader.rows()?.map(({ key, cell }) => [key.toString(), cell.toString()]),
      expected,
    );
  });
}

test("a new table is cut where the keys of its hosts are, so that each part has about as many", () => {
  const hosts = Array.from({ length: 4000 }, (_, at) => `host-${at}.example`);
  const parts: [table: string, keyOf: (host: string) => string][] = [
    ["urls", (host) => rowKey(host, ID)],
    ["due", (host) => dueKey({ paceKey: host, priority: 1, dueAt: AT, urlId: ID })],
    ["host_due", (host) => hostDueKey(host, 16)],
  ];
  for (const [table, keyOf] of parts) {
    const splits = firstSplits(table);
    assert.deepEqual(splits, [...splits].sort());
    const counts = Array<number>(splits.length + 1).fill(0);
    for (const key of hosts.map(keyOf)) counts[splits.filter((split) => split <= key).length]! += 1;
    assert.equal(counts.length, 16);
    assert.ok(Math.max(...counts) < 2 * Math.min(...counts), `${table}: ${counts}`);
  }
});

test("rows are worked on side by side up to a bound; rows of one key in order; the answers in the order of the rows", async () => {
  const rows = Array.from({ length: 300 }, (_, at) => ({ key: `key ${at >> 1}`, at }));
  const working = new Set<string>();
  let most = 0;
  const order = new Map<string, number[]>();
  const answers = await eachRow(rows, async ({ key, at }) => {
    assert.ok(!working.has(key), "one after the other");
    most = Math.max(most, working.add(key).size);
    order.set(key, [...(order.get(key) ?? []), at]);
    await new Promise((resolve) => setImmediate(resolve));
    working.delete(key);
    return at;
  });
  assert.deepEqual(
    answers,
    rows.map(({ at }) => at),
  );
  assert.equal(most, 64);
  assert.ok([...order.values()].every(([first, second]) => first! < second!));
});

test("slots are never more than their number, and the next in line gets each that is given back, also by what fails", async () => {
  const two = slots(2);
  let inside = 0;
  let most = 0;
  const order: number[] = [];
  const settled = await Promise.allSettled(
    Array.from({ length: 10 }, (_, at) =>
      two.run(async () => {
        order.push(at);
        most = Math.max(most, ++inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside--;
        if (at % 3 === 0) throw new Error("no");
        return at;
      }),
    ),
  );
  assert.equal(most, 2);
  assert.deepEqual(order, [...order.keys()]);
  assert.equal(settled.filter(({ status }) => status === "rejected").length, 4);
});
