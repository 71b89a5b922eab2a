import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { allowedAt, gapMs, newHost, withoutExpired } from "../../../core/politeness/host-clock.ts";
import type { PacePolicy } from "../../../core/politeness/policy.ts";
import { encode } from "../../../schemas/codec.ts";
import { type HostState, hostState } from "../../../schemas/host-state.ts";
import { flight, host, NOW, policy } from "./given.ts";

const asked = { lastSendAt: NOW - 900, lastAnsweredAt: NOW - 500, lastEndAt: NOW - 200 };

/** Whole milliseconds are owed in full, so one more stands between two times that were cut to them. */
const table: [situation: string, host: Partial<HostState>, policy: Partial<PacePolicy>, at: number][] = [
  ["a host never asked: at once", {}, {}, 0],
  ["the default delay counts from the answer", asked, {}, NOW + 501],
  ["a shorter Crawl-delay changes nothing", { ...asked, crawlDelayMs: 10 }, {}, NOW + 501],
  ["a longer Crawl-delay counts (P1)", { ...asked, crawlDelayMs: 5_000 }, {}, NOW + 4_501],
  ["ten minutes of Crawl-delay are kept (R19)", { ...asked, crawlDelayMs: 600_000 }, {}, NOW + 599_501],
  ["a slow host waits as long as it took, from the end", { ...asked, latencyMs: 4_000 }, {}, NOW + 3_800],
  ["k times the latency", { ...asked, latencyMs: 4_000 }, { latencyFactor: 2 }, NOW + 7_800],
  ["a back-off counts", { ...asked, backoffUntil: NOW + 9_000 }, {}, NOW + 9_000],
  ["a back-off that is over does not", { ...asked, backoffUntil: NOW - 9_000 }, {}, NOW + 501],
  ["a back-off of a host never answered", { backoffUntil: NOW + 9_000 }, {}, NOW + 9_000],
  ["no delay was agreed: as soon as the answer is in", { ...asked, latencyMs: 9_000 }, { delayMs: 0 }, NOW - 500],
  ["no delay was agreed, but robots.txt asks for one", { ...asked, crawlDelayMs: 2_000 }, { delayMs: 0 }, NOW + 1_501],
  ["with more at once starts are spaced from the last sending", asked, { concurrency: 3 }, NOW + 101],
  [
    "one under way may leave as late as its sendBy",
    { ...asked, inFlight: [flight({ sendBy: NOW + 40 }), flight({ sendBy: NOW + 20 })] },
    { concurrency: 3 },
    NOW + 1_041,
  ],
  ["with more at once the back-off counts too", { ...asked, backoffUntil: NOW + 9_000 }, { concurrency: 3 }, NOW + 9_000],
  ["with more at once and no delay: at once", { ...asked, inFlight: [flight()] }, { concurrency: 3, delayMs: 0 }, 0],
  ["with more at once the latency does not count", { ...asked, latencyMs: 9_000 }, { concurrency: 3 }, NOW + 101],
];
for (const [situation, given, pace, at] of table)
  test(`the clock: ${situation}`, () => {
    assert.equal(allowedAt(host(given), policy(pace)), at);
  });

test("the gap owed is the larger of ours and the host's", () => {
  assert.equal(gapMs(host(), policy()), 1000);
  assert.equal(gapMs(host({ crawlDelayMs: 3 }), policy()), 1000);
  assert.equal(gapMs(host({ crawlDelayMs: 3_000 }), policy()), 3_000);
});

test("a record without dead entries is given back as it is", () => {
  const record = host({ inFlight: [flight()] });
  assert.equal(withoutExpired(record, NOW), record);
  assert.equal(withoutExpired(record, NOW + 35_149), record);
  assert.equal(withoutExpired(record, NOW + 35_200, 51), record, "by a clock that may be 51 ms ahead");
});

test("an entry that ends unreleased is an answer not heard: a back-off from the moment it expired", () => {
  const record = withoutExpired(host({ inFlight: [flight()] }), NOW + 36_000);
  assert.deepEqual(record.inFlight, []);
  assert.equal(record.backoffReason, "unheard");
  assert.equal(record.backoffLevel, 1);
  assert.equal(record.lastSendAt, NOW + 150);
  assert.equal(record.lastAnsweredAt, NOW + 35_150);
  assert.equal(record.lastEndAt, NOW + 35_150);
  const wait = record.backoffUntil - (NOW + 35_150);
  assert.ok(wait >= 15_000 && wait <= 18_750, `${wait} ms`);
});

test("whoever reads a record sees the same, early or late, at once or in steps, whatever the order of its entries", () => {
  const flights = fc
    .uniqueArray(fc.nat(1_000), { maxLength: 5 })
    .map((ends) =>
      ends.map((end, index) => flight({ token: `t${index}`, leaseId: `l${index}`, urlId: `u${index}`, expiresAt: NOW + end })),
    );
  fc.assert(
    fc.property(flights, fc.array(fc.nat(1_000), { maxLength: 4 }), (inFlight, times) => {
      const record = host({ inFlight, backoffLevel: 2 });
      const atOnce = withoutExpired(record, NOW + 1_000);
      const inSteps = times.sort((a, b) => a - b).reduce((now, at) => withoutExpired(now, NOW + at), record);
      assert.deepEqual(withoutExpired(inSteps, NOW + 1_000), atOnce);
      assert.deepEqual(withoutExpired({ ...record, inFlight: [...inFlight].reverse() }, NOW + 1_000), atOnce);
      assert.deepEqual(withoutExpired(atOnce, NOW + 100_000), atOnce, "nothing is counted twice");
    }),
  );
});

test("the record of a host never asked is a record", () => {
  assert.equal(hostState.fault(newHost(3), ""), undefined);
  assert.ok(encode(hostState, newHost(3)).length < 32);
});
