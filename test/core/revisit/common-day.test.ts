import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { onCommonDay } from "../../../core/revisit/common-day.ts";
import { DAY } from "./given.ts";

const T = Date.UTC(2026, 10, 1);
const TURNS = DAY / 12;
const towards = ["earlier", "later"] as const;
const intervals = fc.integer({ min: DAY, max: 30 * DAY });

test("visits of thirty pages, last made at any times, fall on a few days of the month", () => {
  const starts = new Set<number>();
  for (let page = 0; page < 30; page++) {
    const lastFetchAt = T + page * (DAY / 7);
    const dueAt = lastFetchAt + (20 + page / 4) * DAY;
    starts.add(onCommonDay({ paceKey: "a.test", lastFetchAt, dueAt, toward: "later" }));
  }
  assert.ok(starts.size <= 3, `${starts.size} days`);
});

test("days of longer intervals are days of shorter ones, at the host's own time of the day", () => {
  const day = (interval: number) => {
    const at = { paceKey: "a.test", lastFetchAt: T, dueAt: T + interval * DAY };
    return onCommonDay({ ...at, toward: "earlier" });
  };
  const starts = [2, 4, 8, 16, 30].map(day);
  assert.equal(new Set(starts.map((start) => start % DAY)).size, 1);
  const monthly = starts.at(-1)!;
  const daily = onCommonDay({ paceKey: "a.test", lastFetchAt: monthly - DAY, dueAt: monthly, toward: "later" });
  assert.equal(daily, monthly);
});

test("hosts have different times of the day, and the same host always the same", () => {
  const at = (host: number) =>
    onCommonDay({ paceKey: `site-${host}.test`, lastFetchAt: T, dueAt: T + 9 * DAY, toward: "later" });
  const times = Array.from({ length: 50 }, (_, host) => at(host) % DAY);
  assert.ok(new Set(times).size === 50);
  assert.ok(Math.max(...times) - Math.min(...times) > DAY * 0.8);
  assert.equal(at(7), at(7));
});

test("within half the interval of the due time, or a day; 30 days after the last visit at most", () => {
  fc.assert(
    fc.property(
      fc.webAuthority(),
      fc.nat(1000 * DAY),
      intervals,
      fc.constantFrom(...towards),
      (paceKey, at, interval, toward) => {
        const [lastFetchAt, dueAt] = [T + at, T + at + interval];
        const start = onCommonDay({ paceKey, lastFetchAt, dueAt, toward });
        assert.ok(Math.abs(start - dueAt) <= Math.max(DAY, interval / 2), `${(start - dueAt) / DAY} for ${interval / DAY}`);
        assert.ok(start - lastFetchAt <= 30 * DAY && start - lastFetchAt >= DAY - TURNS);
      },
    ),
  );
});

test("after a visit on a common day a change still shortens, and no change lengthens but where 30 days end it", () => {
  const late = fc.nat(TURNS);
  fc.assert(
    fc.property(fc.webAuthority(), intervals, late, (paceKey, interval, turn) => {
      const visit = onCommonDay({ paceKey, lastFetchAt: T, dueAt: T + 5 * DAY, toward: "later" });
      const given = { paceKey, lastFetchAt: visit + turn, dueAt: visit + turn + interval };
      assert.ok(onCommonDay({ ...given, toward: "earlier" }) <= given.dueAt);
      const later = onCommonDay({ ...given, toward: "later" });
      assert.ok(later >= given.dueAt || given.dueAt + 8 * DAY > given.lastFetchAt + 30 * DAY);
    }),
  );
});
