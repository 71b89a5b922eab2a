import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { changeRate, type RatePrior, usualPages, type Visit } from "../../../core/revisit/change-rate.ts";
import { seededRandom } from "../../../io/random.ts";
import { limits } from "../../../schemas/limits.ts";
import { DAY, visits } from "./given.ts";

/** So weak that it decides nothing but what the visits leave open. */
const weak: RatePrior = { shape: 1e-9, days: 1e-9 };

/** Closed forms of the maximum of the likelihood: with equal intervals t and k of n changed, ln(n / (n - k)) / t. */
const byHand: [situation: string, history: Visit[], rate: number][] = [
  ["one of two equal intervals changed: ln 2 in a week", visits("7+ 7-"), Math.LN2 / 7],
  ["three of four: ln 4 in a day", visits("1+ 1+ 1- 1+"), Math.log(4)],
  ["one of ten", visits("5- 5- 5- 5+ 5- 5- 5- 5- 5- 5-"), Math.log(10 / 9) / 5],
  // t/(e^(rt)-1) = 10 with t = 5: e^(5r) = 1.5. The naive ratio, one change in 15 days, would be 0.067.
  ["5 days with a change, 10 without: unlike lengths count unlike", visits("5+ 10-"), Math.log(1.5) / 5],
  // With x = e^(-r): 1/(e^r - 1) + 2/(e^(2r) - 1) = 3 is x/(1-x) + 2x²/(1-x²) = 3, hence 6x² + x - 3 = 0.
  ["changes after one day and after two, none in three", visits("1+ 2+ 3-"), -Math.log((Math.sqrt(73) - 1) / 12)],
];
for (const [situation, history, rate] of byHand)
  test(`by hand: ${situation}`, () => {
    assert.ok(Math.abs(changeRate(history, weak) / rate - 1) < 1e-6, `${changeRate(history, weak)} for ${rate}`);
  });

/** Under the prior of all crawls; each value satisfies the equation, put in by hand. */
const withPrior: [situation: string, history: Visit[], low: number, high: number][] = [
  ["nothing known: 1/2 in the first interval", [], 0.099, 0.0991],
  ["never changed in 16 months", visits(Array(16).fill("30-").join(" ")), 0.00102, 0.00104],
  ["always changed, each day", visits(Array(16).fill("1+").join(" ")), 1.48, 1.49],
  ["always changed, each month", visits(Array(16).fill("30+").join(" ")), 0.178, 0.18],
];
for (const [situation, history, low, high] of withPrior)
  test(`with the prior: ${situation}`, () => {
    const rate = changeRate(history);
    assert.ok(rate > low && rate < high, String(rate));
    assert.ok(Math.abs(unbalanced(history, rate)) < 1e-5, "satisfies the equation");
  });

/** The difference of the equation's two sides as a share of the right one. */
function unbalanced(history: readonly Visit[], rate: number): number {
  let [left, right] = [usualPages.shape / rate, usualPages.days];
  for (const { afterMs, changed } of history) {
    const days = afterMs / DAY;
    if (changed) left += days / Math.expm1(rate * days);
    else right += days;
  }
  return left / right - 1;
}

const visit = fc.record({ afterMs: fc.integer({ min: DAY / 24, max: 400 * DAY }), changed: fc.boolean() });
const histories = fc.array(visit, { maxLength: limits.changeHistory });

test("any history has a positive, finite rate that satisfies the equation", () => {
  fc.assert(
    fc.property(histories, (history) => {
      const rate = changeRate(history);
      assert.ok(rate > 0 && Number.isFinite(rate));
      assert.ok(Math.abs(unbalanced(history, rate)) < 1e-6);
    }),
  );
});

test("a change for none raises the rate, and so does a visit more that found one; one that found none lowers it", () => {
  fc.assert(
    fc.property(histories, visit, (history, { afterMs }) => {
      const [changed, same] = [true, false].map((each) => changeRate([...history, { afterMs, changed: each }]));
      const before = changeRate(history);
      assert.ok(changed! >= before * (1 - 1e-9));
      assert.ok(same! < before);
    }),
  );
});

test("a longer interval without a change lowers the rate, a shorter one with a change raises it", () => {
  fc.assert(
    fc.property(histories, visit, fc.integer({ min: DAY, max: 90 * DAY }), (history, { afterMs, changed }, more) => {
      const short = changeRate([...history, { afterMs, changed }]);
      const long = changeRate([...history, { afterMs: afterMs + more, changed }]);
      assert.ok(long <= short * (1 + 1e-9));
    }),
  );
});

test("the order of visits is all one, and with all times n times as long the rate is an nth", () => {
  fc.assert(
    fc.property(histories, fc.integer({ min: 2, max: 50 }), (history, times) => {
      const rate = changeRate(history);
      assert.ok(Math.abs(changeRate([...history].reverse()) / rate - 1) < 1e-8);
      const slower = history.map(({ afterMs, changed }) => ({ afterMs: afterMs * times, changed }));
      const prior = { ...usualPages, days: usualPages.days * times };
      assert.ok(Math.abs((changeRate(slower, prior) * times) / rate - 1) < 1e-8);
    }),
  );
});

test("drawn histories at irregular intervals give their rate back in the mean, where the naive ratio sees half of it", () => {
  const random = seededRandom("irregular");
  const rate = 0.4;
  let [estimates, naive] = [0, 0];
  const pages = 400;
  for (let page = 0; page < pages; page++) {
    const history = Array.from({ length: 200 }, (): Visit => {
      const days = 0.5 + 9.5 * random.next();
      return { afterMs: days * DAY, changed: random.next() < -Math.expm1(-rate * days) };
    });
    estimates += changeRate(history) / pages;
    const days = history.reduce((sum, { afterMs }) => sum + afterMs / DAY, 0);
    naive += history.filter(({ changed }) => changed).length / days / pages;
  }
  assert.ok(Math.abs(estimates / rate - 1) < 0.02, String(estimates));
  assert.ok(naive < rate * 0.5, String(naive));
});

test("an interval that was rounded to no hours, and one beyond all times, are borne", () => {
  for (const afterMs of [0, Number.MAX_SAFE_INTEGER])
    for (const changed of [true, false]) {
      const rate = changeRate([{ afterMs, changed }]);
      assert.ok(rate > 0 && Number.isFinite(rate), `${afterMs} ${changed}: ${rate}`);
    }
});
