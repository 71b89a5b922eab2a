import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryMetrics } from "../../../io/metrics.ts";
import { sleep } from "../../../ports/clock.ts";
import type { FetchLease } from "../../../schemas/lease.ts";
import { type FetchPool, fetchPool } from "../../../transforms/fetch/pool.ts";
import { fetchPages } from "../../../transforms/fetch.ts";
import { lease } from "../../core/politeness/given.ts";
import { virtualClock } from "../../lib/virtual-clock.ts";
import { bundle } from "../contexts.ts";
import { START, world } from "../world.ts";

const RUN_MS = 100;

function given(slots: number, again: (lease: FetchLease, times: number) => number | undefined = () => undefined) {
  const clock = virtualClock(START);
  const ran: { leaseId: string; at: number }[] = [];
  const turnedAway: string[] = [];
  const times = new Map<string, number>();
  let now = 0;
  let most = 0;
  const pool = fetchPool({
    slots,
    clock,
    metrics: memoryMetrics(),
    async run(each) {
      most = Math.max(most, ++now);
      ran.push({ leaseId: each.leaseId, at: clock.now() - START });
      await sleep(clock, RUN_MS);
      now--;
      const count = (times.get(each.leaseId) ?? 0) + 1;
      times.set(each.leaseId, count);
      return again(each, count);
    },
    async turnAway(each) {
      await sleep(clock, 10);
      turnedAway.push(each.leaseId);
    },
  });
  return { clock, pool, ran, turnedAway, most: () => most };
}

const at = (leaseId: string, afterMs = 0): FetchLease => lease({ leaseId, notBefore: START + afterMs });

/** Takes them side by side, and tells which were taken by now. */
function takeAll(pool: FetchPool, leases: FetchLease[]): string[] {
  const taken: string[] = [];
  for (const each of leases) void pool.take(each).then(() => taken.push(each.leaseId));
  return taken;
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `l${String(index).padStart(2, "0")}`);

test("no more run at once than there are slots, and all run in the order they came", async () => {
  const { clock, pool, ran, most } = given(3);
  takeAll(
    pool,
    names(9).map((name) => at(name)),
  );
  await clock.run(START + 1_000);
  assert.equal(most(), 3);
  assert.deepEqual(
    ran.map(({ leaseId }) => leaseId),
    names(9),
  );
  assert.equal(pool.held, 0);
});

test("an early lease waits for its time outside the slots", async () => {
  const { clock, pool, ran } = given(1);
  takeAll(pool, [at("early", 250), at("now"), at("next")]);
  await clock.run(START + 1_000);
  assert.deepEqual(ran, [
    { leaseId: "now", at: 0 },
    { leaseId: "next", at: 100 },
    { leaseId: "early", at: 250 },
  ]);
});

test("a full pool is the back-pressure: two may wait a slot, and one enters as one leaves (F9)", async () => {
  const { clock, pool } = given(2);
  const taken = takeAll(
    pool,
    names(12).map((name) => at(name)),
  );
  await clock.run(START);
  assert.equal(taken.length, 6);
  assert.equal(pool.held, 6);
  for (const [after, count] of [
    [RUN_MS, 8],
    [2 * RUN_MS, 10],
    [3 * RUN_MS, 12],
  ] as const) {
    await clock.run(START + after);
    assert.equal(taken.length, count, `after ${after} ms`);
    assert.ok(pool.held <= 6, `${pool.held} held`);
  }
});

test("leases that wait for their time count too", async () => {
  const { clock, pool } = given(1);
  const taken = takeAll(
    pool,
    names(5).map((name) => at(name, 250)),
  );
  await clock.run(START + 249);
  assert.equal(taken.length, 2);
  await clock.run(START + 2_000);
  assert.equal(taken.length, 5);
});

test("a lease that is to run again does so at its time, without a slot until then", async () => {
  const { clock, pool, ran } = given(1, (each, times) => (each.leaseId === "twice" && times === 1 ? START + 500 : undefined));
  takeAll(pool, [at("twice"), at("other")]);
  await clock.run(START + 2_000);
  assert.deepEqual(ran, [
    { leaseId: "twice", at: 0 },
    { leaseId: "other", at: 100 },
    { leaseId: "twice", at: 500 },
  ]);
  assert.equal(pool.held, 0);
});

test("draining turns away what waits, at the doors too, lets run what runs, and ends when all has ended", async () => {
  const { clock, pool, ran, turnedAway } = given(1);
  const leases = names(8).map((name, index) => at(name, index === 1 ? 50 : 0));
  const taken = takeAll(pool, leases);
  await clock.run(START + 10);
  let ended: number | undefined;
  void pool.drain().then(() => {
    ended = clock.now() - START;
  });
  await clock.run(START + 1_000);
  assert.deepEqual(
    ran.map(({ leaseId }) => leaseId),
    ["l00"],
  );
  assert.deepEqual(turnedAway.sort(), names(8).slice(1));
  assert.equal(taken.length, 8, "nobody waits at a door for ever");
  assert.equal(ended, RUN_MS);
  assert.equal(pool.held, 0);
});

test("draining does not end before those at the doors are turned away", async () => {
  const { clock, pool, turnedAway } = given(1);
  takeAll(
    pool,
    names(5).map((name) => at(name, 5_000)),
  );
  await clock.run(START + 10);
  let turnedAwayAtEnd: number | undefined;
  void pool.drain().then(() => {
    turnedAwayAtEnd = turnedAway.length;
  });
  await clock.run(START + 1_000);
  assert.equal(turnedAwayAtEnd, 5);
});

test("a drained pool turns away what comes, and what was to run again", async () => {
  const { clock, pool, ran, turnedAway } = given(1, () => START + 500);
  takeAll(pool, [at("again")]);
  await clock.run(START + 10);
  void pool.drain();
  takeAll(pool, [at("new")]);
  await clock.run(START + 1_000);
  assert.equal(ran.length, 1);
  assert.deepEqual(turnedAway.sort(), ["again", "new"]);
});

test("an idle pool drains at once", async () => {
  const { clock, pool } = given(1);
  let ended = false;
  void pool.drain().then(() => {
    ended = true;
  });
  await clock.run(START);
  assert.ok(ended);
});

test("the transform hands each lease over and drains as it is torn down", async () => {
  const { services } = world();
  const seen: string[] = [];
  const pool: FetchPool = {
    held: 0,
    take: async ({ leaseId }) => void seen.push(leaseId),
    drain: async () => void seen.push("drained"),
  };
  const fn = fetchPages.make({}, { ...services, pool });
  await fn.process(at("one"), bundle());
  await fn.teardown?.();
  assert.deepEqual(seen, ["one", "drained"]);
});
