import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep } from "../../ports/clock.ts";
import { Halted, virtualClock } from "./virtual-clock.ts";

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

test("promises that promises began have all run before the next step, over thousands of steps", async () => {
  const clock = virtualClock(0);
  const late: number[] = [];
  for (let at = 0; at < 5_000; at++)
    clock.after(at, async () => {
      for (let turn = 0; turn < 5; turn++) await Promise.resolve().then(() => undefined);
      if (clock.now() !== at) late.push(at);
    });
  await clock.run(5_000);
  assert.deepEqual(late, []);
});

test("what a step throws ends the run, and a later run goes on", async () => {
  const clock = virtualClock(0);
  clock.after(1, () => {
    throw new Error("thrown");
  });
  let ran = false;
  clock.after(2, () => {
    ran = true;
  });
  await assert.rejects(clock.run(10), /thrown/);
  assert.equal(clock.now(), 1);
  await clock.run(10);
  assert.ok(ran);
});

test("a halted clock carries out nothing more, however often it is run", async () => {
  const clock = virtualClock(0);
  let steps = 0;
  for (let at = 1; at <= 3; at++)
    clock.after(at, () => {
      if (++steps === 2) clock.halt("two are enough");
    });
  await assert.rejects(clock.run(10), new Halted("two are enough"));
  await assert.rejects(clock.run(10), Halted);
  assert.equal(steps, 2);
});

test("who asks for one step after another at one time is found out", async () => {
  const clock = virtualClock(0, { stepsAtOnceMax: 100 });
  for (let at = 0; at < 50; at++) for (let times = 0; times < 100; times++) clock.after(at, () => undefined);
  await clock.run(60);
  const again = (): void => void clock.after(0, again);
  again();
  await assert.rejects(clock.run(100), /time stands still at 60/);
});
