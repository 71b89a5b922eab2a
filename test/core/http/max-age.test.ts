import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { maxAgeMs } from "../../../core/http/max-age.ts";

const table: [value: string | undefined, ms: number | undefined][] = [
  [undefined, undefined],
  ["", undefined],
  ["public", undefined],
  ["max-age=60", 60_000],
  ["public, Max-Age=60", 60_000],
  ['max-age="60"', 60_000],
  ["max-age=0", 0],
  ["max-age=-5", undefined],
  ["max-age=soon", undefined],
  ["max-age=1.5", undefined],
  ["max-age=60, max-age=90", 60_000],
  ["s-maxage=60", undefined],
  ["x-max-age=60", undefined],
  ["no-cache", 0],
  ["max-age=60, no-store", 0],
  ["no-store-ever, max-age=60", 60_000],
  ["max-age=9999999999", 9_999_999_999_000],
  ["max-age=99999999999999999999", undefined],
];
for (const [value, ms] of table)
  test(`Cache-Control ${JSON.stringify(value)} keeps for ${ms} ms`, () => {
    assert.equal(maxAgeMs(value), ms);
  });

test("whatever stands there, a time is whole and not negative", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^max-age=.{0,12}$/)), (value) => {
      const ms = maxAgeMs(value);
      assert.ok(ms === undefined || (Number.isSafeInteger(ms) && ms >= 0));
    }),
  );
});
