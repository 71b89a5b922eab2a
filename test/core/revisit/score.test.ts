import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { costFactor, crawlScore, daysUntilNeed, freshnessNeed, priorityFactor } from "../../../core/revisit/score.ts";

const usual = { quality: 50, need: 2, priority: 1, cost: 1 };

const scores: [situation: string, factors: Parameters<typeof crawlScore>[0], score: number][] = [
  ["the usual", usual, 1],
  ["twice the quality", { ...usual, quality: 100 }, 2],
  ["quality unknown: as if it were half", { ...usual, quality: undefined }, 1],
  ["no quality: a tenth", { ...usual, quality: 0 }, 0.2],
  ["a seed", { ...usual, priority: 4 }, 4],
  ["four times the cost", { ...usual, cost: 4 }, 0.25],
  ["nothing to gain", { ...usual, need: 0 }, 0],
];
for (const [situation, factors, score] of scores)
  test(`crawl score, ${situation}: ${score}`, () => {
    assert.equal(crawlScore(factors), score);
  });

test("priority falls with the distance from a seed, and a sitemap has a seed's", () => {
  const page = [0, 1, 3, 7, 15, 64].map((depth) => priorityFactor({ kind: "page", depth }));
  assert.deepEqual(page, [4, 2, 1, 0.5, 0.25, 0.25]);
  assert.equal(priorityFactor({ kind: "sitemap", depth: 3 }), 4);
});

test("cost: 200 KB after a second are the usual, and it lies within a quarter and four times that", () => {
  const table = [
    [200_000, 1000, 1],
    [100_000, 500, 0.5],
    [200_000, 3000, 2],
    [0, 0, 1],
    [400_000, 0, 1.5],
    [1000, 20, 0.25],
    [20_000_000, 30_000, 4],
  ] as const;
  for (const [bodyBytes, latencyMs, cost] of table) assert.equal(costFactor({ bodyBytes, latencyMs }), cost);
});

/** f / rate × (1 - exp(-rate / f)): how much of the time a page is fresh with f visits a day. */
function freshness(rate: number, visitsADay: number): number {
  return (visitsADay / rate) * -Math.expm1(-rate / visitsADay);
}

test("need is what one visit a day more would gain in freshness", () => {
  for (const rate of [0.003, 0.05, 1, 20])
    for (const days of [1, 5, 29]) {
      const [visits, step] = [1 / days, 1e-5 / days];
      const gained = (freshness(rate, visits + step) - freshness(rate, visits - step)) / (2 * step);
      assert.ok(Math.abs(freshnessNeed(rate, days) / gained - 1) < 1e-3, `${rate} ${days}`);
    }
});

test("need at a given time is greatest for pages that change some two times in it, and small for those that change all the time", () => {
  const [never, some, always] = [0.001, 0.18, 50].map((rate) => freshnessNeed(rate, 10));
  assert.ok(some! > 20 * never! && some! > 20 * always!);
});

const rates = fc.double({ min: 1e-7, max: 1e4, noNaN: true });

test("need rises with time, from none, without end, and is finite", () => {
  const days = fc.double({ min: 0, max: 4000, noNaN: true });
  fc.assert(
    fc.property(rates, days, days, (rate, one, other) => {
      const [short, long] = [Math.min(one, other), Math.max(one, other)];
      const [before, after] = [freshnessNeed(rate, short), freshnessNeed(rate, long)];
      assert.ok(before >= 0 && Number.isFinite(after));
      assert.ok(after >= before * (1 - 1e-6));
    }),
  );
  assert.equal(freshnessNeed(1, 0), 0);
  assert.ok(freshnessNeed(100, 300) > 900 * freshnessNeed(100, 30), "overdue pages come at last");
});

test("the closed form and the first term meet where one takes over", () => {
  assert.ok(Math.abs(freshnessNeed(0.99999e-4, 1) / freshnessNeed(1.00001e-4, 1) - 1) < 1e-3);
});

test("the days until a need are those after which it is there, or ten years", () => {
  fc.assert(
    fc.property(rates, fc.double({ min: 0.01, max: 2000, noNaN: true }), (rate, days) => {
      const need = freshnessNeed(rate, days);
      const found = daysUntilNeed(rate, need);
      assert.ok(found <= days + 1e-4, `${found} for ${days}`);
      assert.ok(Math.abs(freshnessNeed(rate, found) / need - 1) < 1e-2 || need < 1e-6);
    }),
  );
  assert.equal(daysUntilNeed(1e-12, 1e12), 3650);
});
