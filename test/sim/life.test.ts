import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryQueue } from "../../io/queues/memory-queue.ts";
import { memoryTable } from "../../io/stores/memory-table.ts";
import { virtualClock } from "../lib/virtual-clock.ts";
import { effortOf } from "./effort.ts";
import { type Life, mortalClock, mortalQueue, mortalTable } from "./life.ts";

const living = (callsLeft?: number): Life => ({
  dead: false,
  effort: effortOf({ hosts: 1, spent: () => assert.fail("no budget is spent here") }),
  ...(callsLeft === undefined ? {} : { callsLeft }),
});
const row = (key: string) => ({ key, rev: "1", value: new Uint8Array() });

/** Whether the promise is settled once all that can run has run. */
async function settles(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  await virtualClock(0).run(0);
  return settled;
}

test("life: who lives is answered; the calls of who is dead never happen and never end", async () => {
  const table = memoryTable();
  const life = living();
  const mortal = mortalTable(table, life);
  assert.deepEqual(await mortal.insertIfAbsent([row("a")]), [true]);
  life.dead = true;
  assert.equal(await settles(mortal.insertIfAbsent([row("b")])), false);
  assert.deepEqual(await table.get(["b"]), [undefined]);
});

test("life: it ends with the call on which the count falls, before that call's effect", async () => {
  const table = memoryTable();
  const life = living(3);
  const mortal = mortalTable(table, life);
  for (const key of ["a", "b"]) assert.equal(await settles(mortal.insertIfAbsent([row(key)])), true);
  assert.equal(await settles(mortal.insertIfAbsent([row("c")])), false);
  assert.equal(life.dead, true);
  assert.deepEqual(
    (await table.get(["a", "b", "c"])).map((found) => found?.key),
    ["a", "b", undefined],
  );
});

test("life: no timer of a dead worker fires, and its clock is off by what it was given", async () => {
  const clock = virtualClock(1_000);
  const life = living();
  const mortal = mortalClock(clock, life, 200);
  const fired: number[] = [];
  mortal.after(10, () => fired.push(mortal.now()));
  mortal.after(20, () => fired.push(mortal.now()));
  await clock.run(1_010);
  life.dead = true;
  await clock.run(2_000);
  assert.deepEqual(fired, [1_210]);
});

test("life: a worker's listening can be ended from outside", async () => {
  const queue = memoryQueue();
  const ends: (() => void)[] = [];
  let heard = 0;
  mortalQueue(queue, living(), (end) => ends.push(end)).onArrival(() => heard++);
  await queue.publish([new Uint8Array([1])]);
  for (const end of ends) end();
  await queue.publish([new Uint8Array([2])]);
  assert.equal(heard, 1);
});
