import assert from "node:assert/strict";
import { test } from "node:test";
import { agreed, facts, request, saysOf, T } from "./given.ts";
import { restUntil, retryAfter } from "./retry-after.ts";

const rest = (status: number, value: string) => request(0, { status, retryAfter: value, answeredAt: T, endedAt: T });

const asked: [status: number, value: string, waitMs: number][] = [
  [503, "120", 120_000],
  [429, "Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
  [301, "Thursday, 01-Jan-26 00:00:30 GMT", 30_000],
  [503, "Thu Jan  1 00:00:05 2026", 5_000],
];
for (const [status, value, waitMs] of asked) {
  test(`retry-after: ${status} with '${value}' is kept to the millisecond`, () => {
    const early = saysOf(retryAfter(facts()), [rest(status, value), request(waitMs - 1)]);
    assert.match(early.join(), /1 ms early/);
    assert.deepEqual(saysOf(retryAfter(facts()), [rest(status, value), request(waitMs)]), []);
  });
}

for (const value of ["soon", "", "0", "-5", "1.5", "Thu, 01 Jan 2015 00:00:00 GMT", "Thu, 01 Foo 2027 00:00:00 GMT"]) {
  test(`retry-after: '${value}' asks for nothing`, () => {
    assert.deepEqual(saysOf(retryAfter(facts()), [rest(503, value), request(1)]), []);
  });
}

test("retry-after: beside a 200 it says nothing, and at another host neither", () => {
  assert.deepEqual(saysOf(retryAfter(facts()), [rest(200, "120"), request(1)]), []);
  assert.deepEqual(saysOf(retryAfter(facts()), [rest(503, "120"), request(1, { host: "h2.sim" })]), []);
});

test("retry-after: a longer wait holds though a shorter one is asked for later", () => {
  const entries = [rest(503, "120"), request(120_000, { status: 429, retryAfter: "5" })];
  assert.deepEqual(saysOf(retryAfter(facts()), entries), []);
  const two = [rest(503, "300"), request(10_000, { status: 429, retryAfter: "5" }), request(200_000)];
  assert.equal(saysOf(retryAfter(facts()), two).length, 2);
});

test("retry-after: no wait is longer than 30 days", () => {
  assert.equal(restUntil("99999999999", T), T + 30 * 86_400_000);
});

test("retry-after: with two at a time, one that was admitted before the answer was heard may still leave", () => {
  assert.deepEqual(saysOf(retryAfter(facts(agreed())), [rest(503, "120"), request(250)]), []);
  assert.match(saysOf(retryAfter(facts(agreed())), [rest(503, "120"), request(251)]).join(), /early/);
});

test("retry-after: what a worker heard and did not live to write down is forgotten, but not what another heard", () => {
  for (const [worker, count] of [
    ["w1", 0],
    ["w2", 1],
  ] as const) {
    const given = facts();
    const checker = retryAfter(given);
    checker.arrived?.(rest(503, "120"));
    given.clock.at = T + 20;
    checker.crashed?.(worker);
    assert.equal(saysOf(checker, [request(60_000)]).length, count);
  }
});
