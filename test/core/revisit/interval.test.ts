import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { nextInterval, remembered, retryWait } from "../../../core/revisit/interval.ts";
import { limits } from "../../../schemas/limits.ts";

const DAY = 86_400_000;

const table: [situation: string, afterMs: number | undefined, changed: boolean, days: number][] = [
  ["the first visit", undefined, true, 7],
  ["a change after eight days", 8 * DAY, true, 4],
  ["no change after eight days", 8 * DAY, false, 12],
  ["a change after an hour", DAY / 24, true, 1],
  ["no change after an hour", DAY / 24, false, 1],
  ["no change after 25 days", 25 * DAY, false, 30],
  ["a change after ten years (C5)", 3650 * DAY, true, 30],
  ["no change after ten years (C5)", 3650 * DAY, false, 30],
];
for (const [situation, afterMs, changed, days] of table)
  test(`the next visit: ${situation}: in ${days} days`, () => {
    assert.equal(nextInterval(afterMs, changed), days * DAY);
  });

test("always whole, within 1 to 30 days; a change never lengthens, no change never shortens", () => {
  fc.assert(
    fc.property(fc.nat(100 * DAY), (afterMs) => {
      const [changed, same] = [nextInterval(afterMs, true), nextInterval(afterMs, false)];
      for (const interval of [changed, same])
        assert.ok(Number.isInteger(interval) && interval >= limits.revisitMsMin && interval <= limits.revisitMsMax);
      assert.ok(changed <= Math.max(afterMs, limits.revisitMsMin));
      assert.ok(same >= Math.min(afterMs, limits.revisitMsMax));
    }),
  );
});

test("sixteen visits are remembered in whole hours, the oldest goes first", () => {
  const hour = 3_600_000;
  let history = remembered(undefined, { afterMs: 0, changed: true });
  for (let visit = 1; visit < 40; visit++)
    history = remembered(history, { afterMs: visit * hour + (visit % 2 === 0 ? 1_000 : -1_000), changed: false });
  assert.deepEqual(
    history.map(({ afterMs }) => afterMs / hour),
    Array.from({ length: limits.changeHistory }, (_, index) => 24 + index),
  );
});

test("a failed URL waits a minute, then twice as long each time", () => {
  assert.deepEqual([1, 2, 3, 5].map(retryWait), [60_000, 120_000, 240_000, 960_000]);
  assert.equal(retryWait(0), 60_000);
});
