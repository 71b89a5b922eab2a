import assert from "node:assert/strict";
import { test } from "node:test";
import { concurrency } from "./concurrency.ts";
import { agreed, facts, request, saysOf, T } from "./given.ts";

const open = { answeredAt: undefined as never, endedAt: undefined as never };

test("concurrency: a second request when the first is over is none too many", () => {
  assert.deepEqual(saysOf(concurrency(facts()), [request(0), request(60)]), []);
});

test("concurrency: a second request while the body still comes is one too many", () => {
  assert.match(saysOf(concurrency(facts()), [request(0), request(59)]).join(), /2 open of 1/);
});

test("concurrency: two are open where two are agreed to, a third is too many", () => {
  const checker = concurrency(facts(agreed()));
  assert.deepEqual(saysOf(checker, [request(0, open), request(200, open)]), []);
  assert.match(saysOf(checker, [request(400)]).join(), /3 open of 2/);
});

test("concurrency: what a dead worker left is open until the server ends it", () => {
  const left = request(0, { ...open, worker: "w1" });
  const checker = concurrency(facts());
  checker.arrived?.(left);
  left.endedAt = T + 5_000;
  assert.deepEqual(saysOf(checker, [request(5_000, { worker: "w2" })]), []);
});
