import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep } from "../../ports/clock.ts";
import { virtualClock } from "./virtual-clock.ts";

test("steps run in order of time, at one time in the order they were asked for, and nothing runs past the end", async () => {
  const clock = virtualClock(1000);
  const ran: string[] = [];
  for (const [name, delay] of [
    ["late", 30],
    ["b", 20],
    ["a", 10],
    ["b2", 20],
    ["now", 0],
    ["past", -5],
  ] as const)
    clock.after(delay, () => ran.push(`${name}@${clock.now()}`));
  await clock.run(1020);
  assert.deepEqual(ran, ["now@1000", "past@1000", "a@1010", "b@1020", "b2@1020"]);
  assert.equal(clock.now(), 1020);
  assert.equal(clock.nextAt(), 1030);
});

test("a step that is called off does not run, not even by a promise of an earlier step at the same time", async () => {
  const clock = virtualClock(0);
  const ran: string[] = [];
  clock.after(5, () => {
    ran.push("first");
    Promise.resolve().then(() => callOff());
  });
  const callOff = clock.after(5, () => ran.push("second"));
  await clock.run(10);
  assert.deepEqual(ran, ["first"]);
  assert.equal(clock.nextAt(), undefined);
});

test("a long chain of promises ends before time goes on", async () => {
  const clock = virtualClock(0);
  let at = -1;
  clock.after(1, async () => {
    for (let turn = 0; turn < 1000; turn++) await undefined;
    at = clock.now();
  });
  clock.after(2, () => undefined);
  await clock.run(3);
  assert.equal(at, 1);
});

test("sleepers wake in their order, and may sleep again within one run", async () => {
  const clock = virtualClock(0);
  const woke: number[] = [];
  const nap = async (times: number) => {
    for (let left = times; left > 0; left--) {
      await sleep(clock, 10);
      woke.push(clock.now());
    }
  };
  const naps = nap(3);
  await clock.run(100);
  await naps;
  assert.deepEqual(woke, [10, 20, 30]);
});
