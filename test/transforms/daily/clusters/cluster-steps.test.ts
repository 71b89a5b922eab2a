// Does each document get the row that the comparison of all with all gives it, whatever the order, the bundles and the memory?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Halves, hashOf } from "../../../../core/clusters/bands.ts";
import { flipped, sets, words } from "../../../core/clusters/brute-force.ts";
import { byHand, clustered, type Documents, documentOf, documentsOf } from "./lib.ts";

const HASHES = 400;

for (const [name, make] of sets)
  test(`${name}: the rows are those that are made by hand`, async () => {
    const documents = documentsOf(make(words(21)).slice(0, HASHES), 22);
    const { rows, counts } = await clustered(documents);
    const expected = byHand(documents);
    assert.ok(name.includes("apart") || expected.length > 0);
    assert.deepEqual(rows, expected);
    assert.equal(counts.unsettledLinks, undefined);
    assert.equal(counts.documents, documents.length);
    assert.equal(counts.hashes, new Set(documents.map(({ key }) => key)).size);
    const clusters = new Set(expected.map(([, { clusterId }]) => clusterId)).size;
    assert.equal(counts.clusters ?? 0, clusters);
    assert.equal(counts.representatives ?? 0, clusters);
    assert.equal(clusters + (counts.copies ?? 0) + (counts.nearDuplicates ?? 0), expected.length);
  });

const ONE: Halves = { high: 0x12345678, low: 0x9abcdef0 };
const key = hashOf(ONE);
const near = hashOf(flipped(ONE, 3));

test("copies, near-duplicates and single documents are told what they are", async () => {
  const documents: Documents = [
    { key, value: documentOf(1) },
    { key, value: documentOf(2, { quality: 70 }) },
    { key: near, value: documentOf(3) },
    { key: hashOf({ high: 1, low: 1 }), value: documentOf(4) },
  ];
  const { rows, counts } = await clustered(documents);
  const common = { clusterId: key, representative: "url-000002", size: 3 };
  const told = rows.map(([, { paceKey, ...row }]) => row).sort((one, other) => (one.urlId < other.urlId ? -1 : 1));
  assert.deepEqual(told, [
    { ...common, urlId: "url-000001", simHash: key, role: "copy", exactCopies: 2, distance: 0 },
    { ...common, urlId: "url-000002", simHash: key, role: "representative", exactCopies: 2, distance: 0 },
    { ...common, urlId: "url-000003", simHash: near, role: "near", exactCopies: 1, distance: 1 },
  ]);
  const expected = { documents: 4, hashes: 3, clusters: 1, representatives: 1, copies: 1, nearDuplicates: 1 };
  assert.deepEqual(counts, expected);
});

test("documents without words, or with what is no hash, are in no cluster and counted", async () => {
  const documents = ["0000000000000000", "0000000000000000", "", "xyz"].map((key, at) => ({ key, value: documentOf(at) }));
  const { rows, counts } = await clustered(documents);
  assert.deepEqual(rows, []);
  assert.deepEqual(counts, { documents: 4, withoutText: 4 });
});

test("no documents give no rows", async () => {
  assert.deepEqual(await clustered([]), { rows: [], counts: {} });
});

test("a hub of copies is one cluster, told through parts of its rows", async () => {
  const documents: Documents = Array.from({ length: 21_000 }, (_, at) => ({ key, value: documentOf(at) }));
  const { rows, counts } = await clustered(documents);
  assert.equal(rows.length, 21_000);
  assert.ok(rows.every(([, { size, representative }]) => size === 21_000 && representative === "url-000000"));
  assert.equal(new Set(rows.map(([key]) => key)).size, 21_000);
  assert.equal(counts.copies, 20_999);
});

test("a chain is cut where it leaves the reach of its representatives", async () => {
  const hashes = Array.from({ length: 16 }, (_, at) => {
    let hash = ONE;
    for (let bit = 0; bit < 2 * at; bit++) hash = flipped(hash, bit); // two bits from link to link
    return hash;
  });
  const documents = hashes.map((hash, at) => ({ key: hashOf(hash), value: documentOf(at) }));
  const { rows, counts } = await clustered(documents);
  assert.deepEqual(rows, byHand(documents));
  assert.deepEqual(counts, { documents: 16, hashes: 16, clusters: 4, representatives: 4, nearDuplicates: 12 });
});

test("law: neither order nor bundles nor memory change a row", async () => {
  const documents = documentsOf(sets[1]![1](words(8)).slice(0, 150), 9);
  const expected = byHand(documents);
  const seed = fc.nat();
  const bounds = fc.record({
    bundleElements: fc.integer({ min: 1, max: 300 }),
    memoryBytes: fc.integer({ min: 0, max: 20_000 }),
  });
  await fc.assert(
    fc.asyncProperty(seed, bounds, async (turn, options) => {
      const at = turn % documents.length;
      const turned = [...documents.slice(at), ...documents.slice(0, at)];
      assert.deepEqual((await clustered(turned, options)).rows, expected);
    }),
    { numRuns: 4 },
  );
});
