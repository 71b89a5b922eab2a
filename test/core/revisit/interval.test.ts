import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { changeRate } from "../../../core/revisit/change-rate.ts";
import { nextInterval, remembered, retryWait, tierOf } from "../../../core/revisit/interval.ts";
import { limits } from "../../../schemas/limits.ts";
import { DAY, visits } from "./given.ts";

const HOUR = DAY / 24;

const table: [situation: string, history: string | undefined, days: number][] = [
  ["the first visit", undefined, 7],
  ["a change after a week", "7+", 3.6],
  ["no change after a week", "7-", 16.7],
  ["no change in two visits", "7- 16-", 30],
  ["two changes, the second at once", "7+ 3+", 2.4],
  ["changes at each of ten daily visits", "7+ 3+ 2+ 1+ 1+ 1+ 1+ 1+ 1+ 1+", 1],
  ["a page that had not changed for long, visited early, has", "30- 30- 30- 30- 30- 10+", 10],
  ["a page that changes daily was left alone for weeks, and had not changed", "1+ 1+ 1+ 1+ 1+ 1+ 20-", 20],
  ["a change after an hour", "0.0417+", 1],
  ["no change after ten years (C5)", "3650-", 30],
  ["a change in ten years, which says nothing (C5)", "3650+", 7],
];
for (const [situation, history, days] of table)
  test(`the next visit: ${situation}: in ${days} days`, () => {
    const interval = nextInterval(history === undefined ? undefined : visits(history)) / DAY;
    assert.ok(Math.abs(interval - days) < 0.06, String(interval));
  });

const pasts = fc.array(fc.record({ afterMs: fc.nat(60 * DAY), changed: fc.boolean() }), { maxLength: 20 });

test("whatever the history: whole, within 1 to 30 days; a change never lengthens, no change never shortens", () => {
  fc.assert(
    fc.property(pasts, fc.nat(100 * 24), (past, hours) => {
      const afterMs = hours * HOUR;
      const [changed, same] = [true, false].map((each) => nextInterval(remembered(past, { afterMs, changed: each })));
      for (const interval of [changed!, same!])
        assert.ok(Number.isInteger(interval) && interval >= limits.revisitMsMin && interval <= limits.revisitMsMax);
      assert.ok(changed! <= Math.max(afterMs, limits.revisitMsMin));
      assert.ok(same! >= Math.min(afterMs, limits.revisitMsMax));
      assert.ok(changed! <= same!);
    }),
  );
});

test("a life of visits, each when it was wanted: the interval shortens with each change and lengthens with each visit without", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 60 }), (changes) => {
      let history = remembered(undefined, { afterMs: limits.revisitMsFirst, changed: true });
      for (const changed of changes) {
        const before = nextInterval(history);
        history = remembered(history, { afterMs: before, changed });
        const after = nextInterval(history);
        // Records keep whole hours.
        assert.ok(changed ? after <= before + HOUR / 2 : after >= before - HOUR / 2, `${before} ${changed} ${after}`);
      }
    }),
  );
});

test("an unbounded interval is the one in which a change is as likely as not", () => {
  const history = visits("3+ 4- 5+ 4-");
  assert.equal(Math.round((1 - Math.exp((-changeRate(history) * nextInterval(history)) / DAY)) * 1e6), 500_000);
});

test("sixteen visits are remembered in whole hours, the oldest goes first", () => {
  let history = remembered(undefined, { afterMs: 0, changed: true });
  for (let visit = 1; visit < 40; visit++)
    history = remembered(history, { afterMs: visit * HOUR + (visit % 2 === 0 ? 1_000 : -1_000), changed: false });
  assert.deepEqual(
    history.map(({ afterMs }) => afterMs / HOUR),
    Array.from({ length: limits.changeHistory }, (_, index) => 24 + index),
  );
});

test("a failed URL waits a minute, then twice as long each time", () => {
  assert.deepEqual([1, 2, 3, 5].map(retryWait), [60_000, 120_000, 240_000, 960_000]);
  assert.equal(retryWait(0), 60_000);
});

test("tiers by the interval: A to 2 days, B to 7, C to 15, D beyond", () => {
  const days = [1, 2, 2.1, 7, 7.1, 15, 15.1, 30];
  assert.equal(days.map((each) => tierOf(each * DAY)).join(""), "AABBCCDD");
});
