import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  type DaySpent,
  dayBudgetAdmitted,
  dayBudgetLeft,
  dayBudgetRefusal,
  dayBudgetReleased,
  dayBudgetSpent,
  dayBudgetUndone,
} from "../../../core/politeness/day-budget.ts";

const DAY_MS = 86_400_000;
const DAY = 22_000;
const MORNING = DAY * DAY_MS + 6 * 3_600_000;
const TOMORROW = (DAY + 1) * DAY_MS;
const budget = { pagesPerDay: 3, bytesPerDay: 1_000 };
const spent = (pages: number, bytes: number, day = DAY): DaySpent => ({ day, pages, bytes });

const refusals: [situation: string, spent: DaySpent | undefined, now: number, reason: string | undefined, left: number][] = [
  ["nothing is spent yet", undefined, MORNING, undefined, 3],
  ["some is", spent(2, 999), MORNING, undefined, 1],
  ["all pages are", spent(3, 0), MORNING, "host-day-pages", 0],
  ["more than all are, by a policy that was lowered", spent(9, 0), MORNING, "host-day-pages", 0],
  ["all bytes are", spent(1, 1_000), MORNING, "host-day-bytes", 0],
  ["all is, and a new day begins", spent(3, 1_000), TOMORROW, undefined, 3],
  ["the last ms of the day", spent(3, 0), TOMORROW - 1, "host-day-pages", 0],
  ["a clock that is a day behind the record's", spent(3, 0), MORNING - DAY_MS, "host-day-pages", 0],
];
for (const [situation, before, now, reason, left] of refusals)
  test(`a day's budget: ${situation}`, () => {
    assert.equal(dayBudgetRefusal(before, budget, now)?.reason, reason);
    assert.equal(dayBudgetLeft(before, budget, now), left);
  });

test("a refusal holds until the next UTC day", () => {
  assert.equal(dayBudgetRefusal(spent(3, 0), budget, MORNING)?.until, TOMORROW);
});

test("a page counts when it is admitted, its bytes when they have come, robots.txt not at all", () => {
  const admitted = dayBudgetAdmitted(undefined, 1, MORNING);
  assert.deepEqual(admitted, spent(1, 0));
  assert.deepEqual(dayBudgetAdmitted(admitted, 0, MORNING), admitted);
  assert.deepEqual(dayBudgetReleased(admitted, 700, MORNING), spent(1, 700));
});

test("bytes that come after midnight are the new day's", () => {
  assert.deepEqual(dayBudgetReleased(spent(3, 10), 700, TOMORROW + 1), spent(0, 700, DAY + 1));
});

test("a page that was never asked for goes back to its own day alone", () => {
  assert.deepEqual(dayBudgetUndone(spent(2, 5), 1, MORNING), spent(1, 5));
  assert.deepEqual(dayBudgetUndone(spent(2, 5, DAY + 1), 1, MORNING), spent(2, 5, DAY + 1));
  assert.deepEqual(dayBudgetUndone(spent(0, 5), 1, MORNING), spent(0, 5));
  assert.equal(dayBudgetUndone(undefined, 1, MORNING), undefined);
});

test("law: on no day more pages are admitted than the budget, whatever the order of events", () => {
  const event = fc.record({
    kind: fc.constantFrom("admit", "undo", "release"),
    afterMs: fc.nat(DAY_MS / 3),
    bytes: fc.nat(400),
  });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      let record: DaySpent | undefined;
      let now = MORNING;
      let booked: number[] = [];
      const asked = new Map<number, number>();
      for (const { kind, afterMs, bytes } of events) {
        now += afterMs;
        const day = Math.floor(now / DAY_MS);
        if (kind === "admit" && dayBudgetRefusal(record, budget, now) === undefined) {
          record = dayBudgetAdmitted(record, 1, now);
          booked.push(now);
          asked.set(day, (asked.get(day) ?? 0) + 1);
        } else if (kind === "release" && booked.length > 0) {
          record = dayBudgetReleased(record, bytes, now);
          booked = booked.slice(1);
        } else if (kind === "undo" && booked.length > 0) {
          const at = booked.shift() ?? 0;
          record = dayBudgetUndone(record, 1, at);
          const itsDay = Math.floor(at / DAY_MS);
          asked.set(itsDay, (asked.get(itsDay) ?? 0) - 1);
        }
        assert.ok((asked.get(day) ?? 0) <= budget.pagesPerDay);
        assert.ok(dayBudgetSpent(record, now).pages >= (asked.get(day) ?? 0));
      }
    }),
  );
});
