import assert from "node:assert/strict";
import { test } from "node:test";
import { smallestGap, timesOf } from "../../../core/statistics/gaps.ts";
import type { FetchEvent } from "../../../schemas/events.ts";

const times = (...pairs: [sentAt: number, answeredAt: number][]) =>
  pairs.map(([sentAt, answeredAt]) => ({ sentAt, answeredAt }));

test("the smallest gap is from an answer to the next sending, in whatever order they are told", () => {
  assert.equal(smallestGap(times([0, 100], [1_100, 1_200], [1_900, 2_000])), 700);
  assert.equal(smallestGap(times([1_900, 2_000], [0, 100], [1_100, 1_200])), 700);
  assert.equal(smallestGap(times([0, 5_000], [1_000, 1_100])), 0, "requests side by side");
  assert.equal(smallestGap(times([0, 100])), undefined);
  assert.equal(smallestGap([]), undefined);
});

const event: FetchEvent = {
  ...{ at: 1_000, url: "http://a.test/", urlId: "u", hostKey: "http://a.test", paceKey: "a.test", kind: "page" },
  ...{ leaseId: "l", version: 0, outcome: "fetched" },
};
const table: [Partial<FetchEvent>, number | undefined][] = [
  [{ status: 200, latencyMs: 70 }, 1_070],
  [{ status: 503, outcome: "server-error" }, 1_000],
  [{ outcome: "failed", reason: "timeout" }, 1_000],
  [{ outcome: "failed", reason: "dns" }, undefined],
  [{ outcome: "robots" }, undefined],
];
for (const [changes, answeredAt] of table)
  test(`${JSON.stringify(changes)} ${answeredAt === undefined ? "is no request" : "is one"}`, () =>
    assert.equal(timesOf({ ...event, ...changes })?.answeredAt, answeredAt));
