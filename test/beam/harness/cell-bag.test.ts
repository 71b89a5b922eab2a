import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { elementAfter, inBag, newestOf, valueIn } from "../../../beam/harness/cell-bag.ts";
import { WireError } from "../../../beam/harness/wire-bytes.ts";

/** What the runner holds after these values were written one after another, and how often it was emptied. */
function written(values: readonly Uint8Array[]) {
  let bag: Buffer[] = [];
  let newest: Uint8Array | undefined;
  let emptied = 0;
  let largest = 0;
  for (const value of values) {
    const next = elementAfter(newest, value);
    if (next.empties) {
      bag = [];
      emptied++;
    }
    bag.push(inBag(next.element));
    newest = next.element;
    largest = Math.max(largest, Buffer.concat(bag).length);
  }
  return { bag, emptied, largest };
}

const bytes = (size: number): Uint8Array => new Uint8Array(size).fill(7);
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);

suite("the bag of a cell", () => {
  test("holds the value written last, whatever the sizes and the order of its elements", () => {
    const sizes = fc.oneof(fc.nat(40), fc.nat(40_000));
    fc.assert(
      fc.property(fc.array(sizes, { minLength: 1, maxLength: 30 }), fc.integer(), (all, seed) => {
        const values = all.map((size, index) => Buffer.concat([bytes(size), Buffer.of(index)]));
        const { bag } = written(values);
        const turned = bag.map((_, index) => bag[(index + Math.abs(seed % bag.length)) % bag.length]!);
        assert.deepEqual(valueIn(newestOf(Buffer.concat(turned))!), values.at(-1));
      }),
      { numRuns: 50 },
    );
    assert.equal(newestOf(new Uint8Array()), undefined);
  });

  const cases: [what: string, values: Uint8Array[], emptied: number, largest: number][] = [
    ["eight values of one size", times(80, () => bytes(100)), 9, 8 * 103],
    ["one large value alone", times(5, () => bytes(20_000)), 4, 20_004],
    ["sixteen kilobytes of values", times(12, () => bytes(5_000)), 3, 3 * 5_005],
    ["empty values as well", times(8, () => bytes(0)), 0, 8 * 2],
    ["a small value instead of a large one", [bytes(9_000), bytes(10)], 1, 9_004],
  ];
  for (const [what, values, emptied, largest] of cases)
    test(`holds at most ${what}`, () => {
      const found = written(values);
      assert.equal(found.emptied, emptied);
      assert.ok(found.largest <= largest, `${found.largest} bytes`);
    });

  test("of whatever bytes is read or refused with WireError", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (given) => {
        try {
          const newest = newestOf(given);
          if (newest !== undefined) valueIn(newest);
        } catch (error) {
          assert.ok(error instanceof WireError);
        }
      }),
    );
  });
});
