import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  addScore,
  type DayScores,
  emptyScores,
  higherThreshold,
  mergeScores,
  noThreshold,
  passes,
  scoreAt,
  scoreBins,
  scoresWithin,
  thresholdFor,
  wantMore,
} from "../../../core/revisit/day-scores.ts";
import { DAY } from "./given.ts";

const WEEK = 7 * DAY;

function scoresOf(scores: readonly number[]): DayScores {
  return scores.reduce((into, score) => addScore(into, score, WEEK), emptyScores());
}

const pages = fc.array(fc.tuple(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.integer({ min: DAY, max: 30 * DAY })));

test("scores merge in any order and any parts to the same, with nothing as neutral", () => {
  fc.assert(
    fc.property(pages, pages, pages, (...parts) => {
      const made = () =>
        parts.map((part) => part.reduce((into, [score, wanted]) => addScore(into, score, wanted), emptyScores()));
      const whole = parts.flat().reduce((into, [score, wanted]) => addScore(into, score, wanted), emptyScores());
      const [a, b, c] = made();
      assert.deepEqual(mergeScores(mergeScores(a!, b!), c!), whole);
      const [d, e, f] = made();
      assert.deepEqual(mergeScores(f!, mergeScores(e!, d!)), whole);
      assert.deepEqual(mergeScores(whole, emptyScores()), whole);
      assert.ok(whole.counts.length <= scoreBins);
    }),
  );
});

test("as many pages pass as there is room for, and those with the highest scores", () => {
  fc.assert(
    fc.property(pages, fc.nat(60), (drawn, visits) => {
      const scores = drawn.map(([score]) => score);
      const threshold = thresholdFor(scoresOf(scores), visits);
      const [most, least] = [0, 0.999999].map((spread) => scores.filter((score) => passes(score, threshold, spread)));
      assert.ok(least!.length <= visits && most!.length >= Math.min(visits, scores.length));
      const out = scores.filter((score) => !most!.includes(score));
      assert.ok(Math.min(...most!) >= Math.max(...out));
    }),
  );
});

test("five billion equal pages: the share of them for which there is room passes", () => {
  const one = scoresOf([0.7]);
  const billions: DayScores = { wanted: one.wanted * 5e9, counts: one.counts.map((count) => count * 5e9) };
  const threshold = thresholdFor(billions, 50_000_000);
  assert.equal(threshold.share, 0.01);
  const passing = Array.from({ length: 1000 }, (_, page) => passes(0.7, threshold, page / 1000)).filter(Boolean);
  assert.equal(passing.length, 10);
  assert.equal(passes(0.8, threshold, 0.99), true);
  assert.equal(passes(0.6, threshold, 0), false);
});

const rooms: [scores: number[], visits: number, passing: number[]][] = [
  [[1, 2, 4, 8], 0, []],
  [[1, 2, 4, 8], 2, [4, 8]],
  [[1, 2, 4, 8], 4, [1, 2, 4, 8]],
  [[1, 2, 4, 8], 1e12, [1, 2, 4, 8]],
  [[], 3, []],
  [[0, 1e-30, 1e30], 1, [1e30]],
  [[0, 1e-30, 1e30], 3, [0, 1e-30, 1e30]],
];
for (const [scores, visits, passing] of rooms)
  test(`of ${JSON.stringify(scores)} with room for ${visits} pass ${JSON.stringify(passing)}`, () => {
    const threshold = thresholdFor(scoresOf(scores), visits);
    assert.deepEqual(
      scores.filter((score) => passes(score, threshold, 0.5)),
      passing,
    );
  });

test("a threshold's score is the lowest of its bin: 4.4 % below the highest at most", () => {
  for (const score of [0.001, 0.4, 1, 3.3, 1000]) {
    const lowest = scoreAt(thresholdFor(scoresOf([score]), 0.5));
    assert.ok(lowest <= score && lowest > score / 1.0443, `${lowest} for ${score}`);
  }
});

test("pages want more than a day has when their intervals say so, whatever their scores", () => {
  const scores = scoresOf([1, 1, 1, 1, 1, 1, 1]);
  assert.equal(wantMore(scores, 0.99), true);
  assert.equal(wantMore(scores, 1.01), false);
  assert.equal(wantMore(emptyScores(), 0), false);
});

test("for a budget over all hosts a host gives what it has room for and no more", () => {
  const host = scoresOf([1, 2, 4, 8]);
  const within = scoresWithin(host, thresholdFor(host, 2), 2);
  const crawl = mergeScores(within, scoresOf([3]));
  const threshold = thresholdFor(crawl, 2);
  assert.deepEqual(
    [1, 2, 3, 4, 8].filter((score) => passes(score, threshold, 0.5)),
    [4, 8],
  );
  assert.equal(
    crawl.counts.reduce((sum, count) => sum + count),
    3,
  );
  const greedy = Array.from({ length: 100 }).reduce<DayScores>((into) => addScore(into, 1, DAY), emptyScores());
  assert.equal(scoresWithin(greedy, thresholdFor(greedy, 10), 10).wanted, 10_000);
});

test("of two thresholds the higher one lets fewer pass", () => {
  const [low, high] = [1, 2].map((visits) => thresholdFor(scoresOf([1, 2, 4]), visits)).reverse();
  assert.deepEqual(higherThreshold(low!, high!), high);
  assert.deepEqual(higherThreshold(high!, low!), high);
  assert.deepEqual(higherThreshold(high!, noThreshold), high);
  assert.equal(higherThreshold({ bin: 3, share: 0.5 }, { bin: 3, share: 0.2 }).share, 0.2);
});
