import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Timer, TimerQueue } from "../../../beam/embedded/timers.ts";

type Operation = { do: "set"; timer: number; at: number } | { do: "clear"; timer: number } | { do: "fire"; now: number };

const timer = fc.nat({ max: 20 });
const at = fc.nat({ max: 5 }); // few, so that many are due at one time
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ do: fc.constant("set" as const), timer, at }),
  fc.record({ do: fc.constant("clear" as const), timer }),
  fc.record({ do: fc.constant("fire" as const), now: at }),
);

test("any sequence of set, clear and fire does what a list of the timers in the order they were set would do", () => {
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const queue = new TimerQueue<number>();
      const timers = Array.from({ length: 21 }, (_, owner) => new Timer(owner, "bell"));
      let model: { timer: number; at: number }[] = [];
      for (const operation of operations) {
        if (operation.do !== "fire") model = model.filter((one) => one.timer !== operation.timer);
        if (operation.do === "set") {
          queue.set(timers[operation.timer]!, operation.at);
          model.push(operation);
        } else if (operation.do === "clear") queue.clear(timers[operation.timer]!);
        else {
          const due = model.filter((one) => one.at <= operation.now).sort((one, other) => one.at - other.at);
          model = model.filter((one) => one.at > operation.now);
          const fired = [];
          for (let next = queue.pop(operation.now); next !== undefined; next = queue.pop(operation.now)) fired.push(next.owner);
          assert.deepEqual(
            fired,
            due.map((one) => one.timer),
          );
        }
        assert.equal(queue.length, model.length);
        assert.equal(queue.next(), model.length === 0 ? undefined : Math.min(...model.map((one) => one.at)));
      }
    }),
  );
});

test("many timers come out in order", () => {
  const queue = new TimerQueue<number>();
  let time = 1;
  for (let owner = 0; owner < 20_000; owner++) {
    time = (time * 48_271) % 2_147_483_647;
    queue.set(new Timer(time, "bell"), time);
  }
  const fired: number[] = [];
  for (let next = queue.pop(Infinity); next !== undefined; next = queue.pop(Infinity)) fired.push(next.owner);
  assert.equal(fired.length, 20_000);
  assert.ok(fired.every((one, index) => index === 0 || fired[index - 1]! <= one));
});
