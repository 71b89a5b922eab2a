// Is every pair within three bits found? Against the comparison of all pairs, on sets of chance and on sets made to be hard.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bandKey, type Halves, NEAR_BITS, narrowKeys, TABLES, tableOf } from "../../../core/clusters/bands.ts";
import {
  addHash,
  addPacked,
  type HashList,
  halvesAt,
  nearGroups,
  newHashList,
  packed,
} from "../../../core/clusters/near-groups.ts";
import { components, nearPairs, sets, words } from "./brute-force.ts";

function listOf(hashes: readonly Halves[]): HashList {
  const list = newHashList();
  for (const hash of hashes) addHash(list, hash);
  return list;
}

function isSmaller(one: Halves, other: Halves): boolean {
  return one.high < other.high || (one.high === other.high && one.low < other.low);
}

/** As nearGroups tells it, from the comparison of all pairs. */
function expectedGroups(hashes: readonly Halves[]): number[] {
  const group = components(hashes.length, nearPairs(hashes, NEAR_BITS));
  const least = new Map<number, number>();
  for (const [place, root] of group.entries()) {
    const so = least.get(root);
    if (so === undefined || isSmaller(hashes[place]!, hashes[so]!)) least.set(root, place);
  }
  return group.map((root) => least.get(root)!);
}

const KEY_BITS = 4; // several bands under one key
const bandKeys = (hash: Halves) => Array.from({ length: TABLES }, (_, table) => bandKey(hash, table, KEY_BITS));

/** The links that all buckets of the hashes give, each bucket by itself. */
function* bucketLinks(
  hashes: readonly Halves[],
  keysOf: (hash: Halves) => string[],
  tableIn: (key: string) => number | undefined,
): Generator<[number, number]> {
  const buckets = new Map<string, number[]>();
  for (const [place, hash] of hashes.entries())
    for (const key of keysOf(hash)) {
      const members = buckets.get(key);
      if (members === undefined) buckets.set(key, [place]);
      else members.push(place);
    }
  for (const [key, members] of buckets) {
    const groups = nearGroups(listOf(members.map((place) => hashes[place]!)), tableIn(key));
    for (const [at, least] of groups.entries()) if (at !== least) yield [members[at]!, members[least]!];
  }
}

for (const [name, make] of sets)
  test(`${name}: the groups of a list are those of the comparison of all pairs`, () => {
    const hashes = make(words(7));
    assert.deepEqual([...nearGroups(listOf(hashes))], expectedGroups(hashes));
  });

for (const [name, make] of sets)
  test(`${name}: the buckets of all bands hang together what all pairs hang together`, () => {
    const hashes = make(words(11));
    const links = bucketLinks(hashes, bandKeys, tableOf);
    assert.deepEqual(components(hashes.length, links), components(hashes.length, nearPairs(hashes, NEAR_BITS)));
  });

for (const [name, make] of sets)
  test(`${name}: where all bands are crowded, narrower keys hang together what all pairs hang together`, () => {
    const hashes = make(words(3)).slice(0, 150);
    const keysOf = (hash: Halves) => Array.from({ length: TABLES }, (_, table) => narrowKeys(hash, table)).flat();
    const links = bucketLinks(hashes, keysOf, () => undefined);
    assert.deepEqual(components(hashes.length, links), components(hashes.length, nearPairs(hashes, NEAR_BITS)));
  });

test("of ten tables one links a pair", () => {
  const pair = [
    { high: 0, low: 0 },
    { high: 0, low: 1 },
  ];
  const linked = Array.from({ length: TABLES }, (_, table) => nearGroups(listOf(pair), table)[1] === 0);
  assert.equal(linked.filter(Boolean).length, 1);
});

test("law: the order of the hashes does not matter", () => {
  const low = fc.uniqueArray(fc.integer({ min: 0, max: 4095 }), { minLength: 2, maxLength: 120 });
  fc.assert(
    fc.property(low, fc.nat(), (values, seed) => {
      const hashes = values.map((value) => ({ high: 5, low: value * 0x1001 }));
      const shuffled = hashes.toSorted((one, other) => ((one.low ^ seed) >>> 0) - ((other.low ^ seed) >>> 0));
      const named = (list: readonly Halves[]) =>
        [...nearGroups(listOf(list))].map((least, place) => `${list[place]!.low} with ${list[least]!.low}`).sort();
      assert.deepEqual(named(shuffled), named(hashes));
    }),
  );
});

test("no hash and one hash are groups", () => {
  assert.deepEqual([...nearGroups(newHashList())], []);
  assert.deepEqual([...nearGroups(listOf([{ high: 1, low: 2 }]))], [0]);
});

test("law: packed hashes come back, behind those that are there", () => {
  const half = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(fc.array(fc.record({ high: half, low: half }, { noNullPrototype: true })), (hashes) => {
      const list = listOf([{ high: 1, low: 2 }]);
      const bytes = packed(listOf(hashes));
      assert.equal(bytes.length, 8 * hashes.length);
      addPacked(list, bytes);
      const back = Array.from({ length: list.size }, (_, place) => halvesAt(list, place));
      assert.deepEqual(back, [{ high: 1, low: 2 }, ...hashes]);
    }),
  );
});

test("bytes that are no whole hash are left out", () => {
  const list = newHashList();
  addPacked(list, Uint8Array.of(1, 0, 0, 0, 2, 0, 0, 0, 9));
  assert.deepEqual([list.size, halvesAt(list, 0)], [1, { high: 2, low: 1 }]);
});
