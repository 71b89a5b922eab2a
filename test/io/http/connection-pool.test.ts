import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import type { Connection } from "../../../io/http/connection.ts";
import { connectionPool } from "../../../io/http/connection-pool.ts";
import { countdown } from "../../../io/http/countdown.ts";
import { slots } from "../../../io/http/slots.ts";
import { limits } from "../../../schemas/limits.ts";
import { handClock } from "./fixtures.ts";

/** A connection of which only the end matters. */
function connection(key: string): Connection & { ended(): boolean } {
  const socket = new EventEmitter();
  let ended = false;
  const end = () => {
    ended = true;
    socket.emit("close");
  };
  return { key, socket, end, alive: () => !ended, ended: () => ended } as unknown as Connection & { ended(): boolean };
}

test("the connection used last is taken first, by its own key only", () => {
  const pool = connectionPool(handClock());
  const [one, two, other] = [connection("a"), connection("a"), connection("b")];
  for (const each of [one, two, other]) pool.keep(each);
  assert.equal(pool.take("a"), two);
  assert.equal(pool.take("a"), one);
  assert.equal(pool.take("a"), undefined);
  assert.equal(pool.take("b"), other);
});

test("beyond the bound the one that idles longest is ended, and each after its time", () => {
  const clock = handClock();
  const pool = connectionPool(clock, 2);
  const [one, two, three] = [connection("a"), connection("b"), connection("c")];
  for (const each of [one, two, three]) pool.keep(each);
  assert.deepEqual(
    [one, two, three].map((each) => each.ended()),
    [true, false, false],
  );
  clock.advance(limits.keepAliveMs - 1);
  pool.keep(pool.take("c")!);
  clock.advance(1);
  assert.deepEqual(
    [two, three].map((each) => each.ended()),
    [true, false],
  );
  assert.equal(pool.take("c"), three);
  clock.advance(limits.keepAliveMs);
  assert.equal(three.ended(), false, "one in use has no idle time");
});

test("a dead connection is neither kept nor given out, and none is kept after close()", async () => {
  const pool = connectionPool(handClock());
  const [dead, idle, late] = [connection("a"), connection("a"), connection("a")];
  dead.end();
  pool.keep(dead);
  assert.equal(pool.take("a"), undefined);
  pool.keep(idle);
  await pool.close();
  pool.keep(late);
  assert.deepEqual([idle.ended(), late.ended(), pool.take("a")], [true, true, undefined]);
});

test("slots are handed on in the order of asking, and a waiter whose time is over leaves the line", async () => {
  const clock = handClock();
  const two = slots(2);
  const order: string[] = [];
  const ask = (name: string, totalMs: number) =>
    two.take(countdown(clock, totalMs)).then((got) => order.push(`${name} ${got}`));
  const asked = [ask("a", 100), ask("b", 100), ask("c", 10), ask("d", 100), ask("e", 100)];
  await Promise.all(asked.slice(0, 2));
  clock.advance(10);
  two.give();
  two.give();
  await Promise.all(asked);
  assert.deepEqual(order, ["a true", "b true", "c false", "d true", "e true"]);
  two.give();
  two.give();
  assert.equal(two.taken(), 0);
});
