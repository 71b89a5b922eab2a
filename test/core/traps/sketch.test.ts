import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Sketch, sketchBytesMax, sketchEstimate, sketchUnion, sketchWith } from "../../../core/traps/sketch.ts";

const EMPTY: Sketch = new Uint8Array();
const sketchOf = (items: readonly string[], from = EMPTY) => items.reduce(sketchWith, from);
const named = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}/${index}`);

test("nothing is estimated as nothing", () => {
  assert.equal(sketchEstimate(EMPTY), 0);
});

for (const count of [1, 10, 50, 100])
  test(`${count} items are told within a few`, () => {
    assert.ok(Math.abs(sketchEstimate(sketchOf(named("few", count))) - count) <= Math.ceil(count / 10));
  });

for (const count of [500, 1_000, 2_000, 10_000, 40_000])
  test(`${count} items are told within 15 %, three times the standard error`, () => {
    const estimate = sketchEstimate(sketchOf(named("many", count)));
    assert.ok(Math.abs(estimate - count) <= 0.15 * count, `${estimate}`);
  });

test("a sketch is never larger than its bound, and small while there is little in it", () => {
  assert.equal(sketchOf(["a"]).length, 3);
  const full = sketchOf(named("size", 20_000));
  assert.equal(full.length, sketchBytesMax);
  for (let sketch = EMPTY, index = 0; index < 2_000; index++) {
    sketch = sketchWith(sketch, `growing/${index}`);
    assert.ok(sketch.length <= sketchBytesMax);
  }
});

test("an item that changes nothing gives the same object, so that nothing need be written", () => {
  const sketch = sketchOf(named("again", 300));
  for (const item of named("again", 300)) assert.equal(sketchWith(sketch, item), sketch);
  assert.equal(sketchUnion(sketch, sketchOf(named("again", 20))), sketch);
});

test("a full sketch too tells of the set alone, whether it grew item by item or is a union", () => {
  const [one, other] = [named("one", 500), named("other", 500)];
  const whole = sketchOf([...one, ...other]);
  assert.equal(whole.length, sketchBytesMax);
  assert.deepEqual(sketchOf([...other, ...one].reverse()), whole);
  assert.deepEqual(sketchUnion(sketchOf(one), sketchOf(other)), whole);
});

test("an item added to a full sketch leaves the one it was added to as it was", () => {
  const before = sketchOf(named("kept", 500));
  const copy = before.slice();
  assert.notDeepEqual(sketchOf(named("more", 500), before), before);
  assert.deepEqual(before, copy);
});

const someItems = fc.array(fc.stringMatching(/^[a-c]{1,6}$/), { maxLength: 200 });

test("law: the bytes tell of the set, not of order or repetition", () => {
  fc.assert(
    fc.property(someItems, (items) => {
      assert.deepEqual(sketchOf(items), sketchOf([...items, ...items].reverse()));
    }),
    { numRuns: 50 },
  );
});

test("law: the union of two sketches is the sketch of both sets, and nothing shrinks an estimate", () => {
  fc.assert(
    fc.property(someItems, someItems, (one, other) => {
      const both = sketchUnion(sketchOf(one), sketchOf(other));
      assert.deepEqual(both, sketchOf([...one, ...other]));
      assert.deepEqual(both, sketchUnion(sketchOf(other), sketchOf(one)));
      assert.ok(sketchEstimate(both) >= sketchEstimate(sketchOf(one)));
    }),
    { numRuns: 50 },
  );
});

test("law: bytes that no sketch wrote are no error", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), fc.string(), (bytes, item) => {
      const after = sketchWith(bytes, item);
      assert.ok(sketchEstimate(after) >= 0);
      assert.ok(sketchUnion(after, bytes).length <= Math.max(sketchBytesMax, bytes.length));
    }),
  );
});
