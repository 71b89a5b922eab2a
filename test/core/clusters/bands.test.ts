// Do near-duplicates share a band? What a key tells depends on the differing bits alone, so all patterns of up to three bits are tried.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  bandKey,
  bandOf,
  firstTable,
  type Halves,
  halvesOf,
  hashOf,
  keyBitsFor,
  NEAR_BITS,
  narrowKeys,
  TABLES,
  tableOf,
} from "../../../core/clusters/bands.ts";
import { flipped } from "./brute-force.ts";

const ZERO: Halves = { high: 0, low: 0 };
const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const hash = fc.record({ high: word, low: word });

/** All hashes that differ from zero in one to three bits. */
function* nearOnes(hash: Halves, from: number, left: number): Generator<Halves> {
  for (let bit = from; bit < 64; bit++) {
    const next = flipped(hash, bit);
    yield next;
    if (left > 1) yield* nearOnes(next, bit + 1, left - 1);
  }
}

const bandsOf = (hash: Halves) => Array.from({ length: TABLES }, (_, table) => bandOf(hash, table));

test("each of the 43,744 patterns of one to three differing bits leaves a band equal, and is told by the first such table alone", () => {
  let patterns = 0;
  for (const other of nearOnes(ZERO, 0, NEAR_BITS)) {
    patterns++;
    const shared = bandsOf(other).indexOf(0);
    assert.notEqual(shared, -1, hashOf(other));
    assert.equal(firstTable(other.high, other.low), shared, hashOf(other));
  }
  assert.equal(patterns, 64 + 2016 + 41_664);
});

test("each pattern of up to three bits inside a crowded band leaves a narrower key equal", () => {
  const narrow = bandsOf(ZERO).map((_, table) => narrowKeys(ZERO, table));
  for (const other of nearOnes(ZERO, 0, NEAR_BITS))
    for (const [table, band] of bandsOf(other).entries()) {
      if (band !== 0) continue;
      const shared = narrowKeys(other, table).some((key, at) => key === narrow[table]![at]);
      assert.ok(shared, `${hashOf(other)} in table ${table}`);
    }
});

test("law: two hashes have the same bands, and share keys, by their difference alone", () => {
  fc.assert(
    fc.property(hash, hash, (one, other) => {
      const difference = { high: (one.high ^ other.high) >>> 0, low: (one.low ^ other.low) >>> 0 };
      const against = bandsOf(other);
      assert.deepEqual(
        bandsOf(one).map((band, table) => band === against[table]),
        bandsOf(difference).map((band) => band === 0),
      );
    }),
  );
});

test("law: who has the same band has the same key however long it is, and a key tells its table", () => {
  const bits = fc.integer({ min: 4, max: 26 });
  const place = fc.nat(63);
  fc.assert(
    fc.property(hash, place, bits, (one, bit, keyBits) => {
      const other = flipped(one, bit);
      for (let table = 0; table < TABLES; table++) {
        const key = bandKey(one, table, keyBits);
        assert.equal(tableOf(key), table);
        if (bandOf(one, table) === bandOf(other, table)) assert.equal(bandKey(other, table, keyBits), key);
      }
    }),
  );
});

test("a key of all 26 bits is the band", () => {
  const other = flipped(ZERO, 63);
  for (let table = 0; table < TABLES; table++)
    assert.equal(bandKey(other, table, 26) === bandKey(ZERO, table, 26), bandOf(other, table) === 0);
});

const sizes: [documents: number, bits: number][] = [
  [0, 4],
  [1e6, 4],
  [1e7, 7],
  [1e10, 17],
  [1e300, 26],
];
for (const [documents, bits] of sizes)
  test(`${documents} documents have keys of ${bits} bits`, () => {
    assert.equal(keyBitsFor(documents), bits);
  });

test("each bit of a hash changes four of its ten bands", () => {
  for (let bit = 0; bit < 64; bit++)
    assert.equal(bandsOf(flipped(ZERO, bit)).filter((band) => band !== 0).length, 4, `bit ${bit}`);
});

test("a narrower key tells the whole band", () => {
  const [one, other] = [ZERO, flipped(ZERO, 12)];
  assert.ok(narrowKeys(one, 0).every((key) => !narrowKeys(other, 0).includes(key)));
});

test("law: 16 digits and two halves are the same hash", () => {
  fc.assert(fc.property(hash, (any) => assert.deepEqual(halvesOf(hashOf(any)), { ...any })));
  assert.deepEqual(halvesOf("00000001fffffffe"), { high: 1, low: 2 ** 32 - 2 });
  assert.equal(hashOf({ high: 10, low: 0 }), "0000000a00000000");
});

test("a pattern that no table leaves equal is told by none", () => {
  const spread = [0, 13, 26, 39].reduce(flipped, ZERO);
  assert.equal(firstTable(spread.high, spread.low), -1);
});
