import assert from "node:assert/strict";
import { test } from "node:test";
import { tokenFraction } from "../../core/token-fraction.ts";
import { seededRandom } from "../../io/random.ts";

test("tokens are spread evenly from 0 to 1, and each has its place whoever looks", () => {
  const random = seededRandom("fractions");
  const tokens = Array.from({ length: 4_000 }, () => random.token());
  const tenths = new Array<number>(10).fill(0);
  for (const token of tokens) {
    const fraction = tokenFraction(token);
    assert.ok(fraction >= 0 && fraction < 1);
    assert.equal(tokenFraction(token), fraction);
    tenths[Math.floor(fraction * 10)]!++;
  }
  assert.ok(Math.min(...tenths) > 300 && Math.max(...tenths) < 500, tenths.join(" "));
  assert.equal(tokenFraction(""), 0);
});
