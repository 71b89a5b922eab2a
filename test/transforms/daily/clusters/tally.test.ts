import assert from "node:assert/strict";
import { test } from "node:test";
import { newTally, sumCounts } from "../../../../transforms/daily/clusters/tally.ts";
import { bundle } from "../../contexts.ts";

test("what was counted is given once, at the bundle's end", () => {
  const [tally, context] = [newTally(), bundle()];
  tally.lifecycle.startBundle();
  tally.count("hashes");
  tally.count("hashes", 4);
  tally.count("documents");
  tally.lifecycle.finishBundle(context as never);
  const told = context.emitted.map(({ value }) => [value.key, value.value]);
  assert.deepEqual(told, [
    ["hashes", 5],
    ["documents", 1],
  ]);
});

test("what a bundle that failed had counted is forgotten", () => {
  const [tally, context] = [newTally(), bundle()];
  tally.count("hashes");
  tally.lifecycle.startBundle();
  tally.lifecycle.finishBundle(context as never);
  assert.deepEqual(context.emitted, []);
});

test("parts of a sum add up", () => {
  const { create, add, merge } = sumCounts;
  assert.equal(merge(add(add(create(), 2), 3), add(create(), 4)), 9);
});
