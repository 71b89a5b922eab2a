import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { countsOf, hostCounts } from "../../../core/statistics/fetch-counts.ts";
import { addSums, addTime, addTimes, noSums, timeBelow } from "../../../core/statistics/sums.ts";
import type { FetchEvent } from "../../../schemas/events.ts";

const event = (changes: Partial<FetchEvent>): FetchEvent => ({
  ...{ at: 1_000_000, url: "http://a.test/", urlId: "u", hostKey: "http://a.test", paceKey: "a.test", kind: "page" },
  ...{ leaseId: "l", version: 0, outcome: "fetched" },
  ...changes,
});

const table: [what: string, changes: Partial<FetchEvent>, counts: Partial<Record<(typeof hostCounts)[number], number>>][] = [
  [
    "a page",
    { status: 200, wireBytes: 5, bodyBytes: 9, latencyMs: 40 },
    { requests: 1, fetched: 1, wireBytes: 5, bodyBytes: 9, latencyMs: 40, answers: 1 },
  ],
  ["robots.txt", { kind: "robots" }, { requests: 1, robots: 1, fetched: 1, wireBytes: 0, bodyBytes: 0 }],
  ["what robots.txt forbids", { outcome: "robots", dueAt: 1, priority: 0 }, { refused: 1 }],
  ["a page that was given up", { outcome: "poisoned" }, { failed: 1 }],
  ["no answer", { outcome: "failed" }, { requests: 1, failed: 1, wireBytes: 0, bodyBytes: 0 }],
  [
    "an urgent page ten minutes after its time",
    { outcome: "gone", dueAt: 400_000, priority: 1 },
    { requests: 1, gone: 1, wireBytes: 0, bodyBytes: 0, dueUrgent: 1, dueUrgentInTime: 1 },
  ],
  [
    "an urgent page a millisecond later",
    { outcome: "gone", dueAt: 399_999, priority: 1 },
    { requests: 1, gone: 1, wireBytes: 0, bodyBytes: 0, dueUrgent: 1, dueUrgentInTime: 0 },
  ],
  ["a revisit has no such promise", { dueAt: 1, priority: 2 }, { requests: 1, fetched: 1, wireBytes: 0, bodyBytes: 0 }],
];
for (const [what, changes, counts] of table)
  test(`${what} counts as it should`, () => {
    assert.deepEqual(countsOf(event(changes)), counts);
  });

const times = fc.array(fc.integer({ min: 0, max: 2_000_000 }), { maxLength: 60 });
const binned = (all: readonly number[]) => all.reduce(addTime, [] as number[]);

test("bins of times are the same in whatever parts and order they are added", () => {
  fc.assert(
    fc.property(times, times, (one, other) => {
      const whole = binned([...other, ...one]);
      assert.deepEqual(addTimes(addTimes([], binned(one)), binned(other)), whole);
      assert.ok(whole.length <= 80);
    }),
  );
});

test("a share of times lies below what is told, to a fifth of it", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 900_000 }), { minLength: 1, maxLength: 60 }), (all) => {
      const sorted = all.toSorted((one, other) => one - other);
      const exact = sorted[Math.ceil(all.length * 0.95) - 1]!;
      const told = timeBelow(binned(all), 0.95)!;
      assert.ok(told >= exact * 0.99 - 1 && told <= (exact + 1) * 1.2, `${told} for ${exact}`);
    }),
  );
  assert.equal(timeBelow([], 0.95), undefined);
});

test("sums add by name, what is absent is none", () => {
  const sums = addSums(addSums(noSums(hostCounts), { requests: 2 }), { requests: 3, robots: 1 });
  assert.deepEqual([sums.requests, sums.robots, sums.fetched], [5, 1, 0]);
});
