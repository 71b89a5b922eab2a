import assert from "node:assert/strict";
import { test } from "node:test";
import { addPacked, halvesAt, newHashList } from "../../../../core/clusters/near-groups.ts";
import type { Banded } from "../../../../transforms/daily/clusters/elements.ts";
import { newPacks } from "../../../../transforms/daily/clusters/packs.ts";

function reader() {
  const given: [key: string, lows: number[]][] = [];
  const give = (key: string, { hashes }: Banded) => {
    const list = newHashList();
    addPacked(list, hashes);
    given.push([key, Array.from({ length: list.size }, (_, place) => halvesAt(list, place).low)]);
  };
  return { given, give };
}

test("hashes of one key travel together, and each once", () => {
  const { given, give } = reader();
  const packs = newPacks();
  for (let low = 0; low < 5; low++) packs.add(low % 2 === 0 ? "even" : "odd", { high: 0, low }, give);
  assert.deepEqual(given, []);
  packs.give(give);
  packs.give(give);
  assert.deepEqual(given, [
    ["even", [0, 2, 4]],
    ["odd", [1, 3]],
  ]);
});

test("many that wait are given before the end", () => {
  const { given, give } = reader();
  const packs = newPacks(2);
  for (let low = 0; low < 3; low++) packs.add("k", { high: 0, low }, give);
  assert.deepEqual(given, [["k", [0, 1]]]);
});

test("what waits in a bundle that failed is forgotten", () => {
  const { given, give } = reader();
  const packs = newPacks();
  packs.add("k", { high: 0, low: 1 }, give);
  packs.clear();
  packs.give(give);
  assert.deepEqual(given, []);
});
