import assert from "node:assert/strict";
import { test } from "node:test";
import { effortOf } from "./effort.ts";

test("effort: calls beyond the budget of a stretch are told once, and none of them is answered", () => {
  const told: string[] = [];
  const effort = effortOf({ hosts: 1, spent: (words) => told.push(words) });
  let answered = 0;
  while (effort.spend()) answered++;
  assert.equal(effort.spend(), false);
  assert.ok(answered > 10_000);
  assert.equal(told.length, 1);
  assert.match(told[0]!, /goes round in circles/);
});

test("effort: a stretch that ends and a request that is made fill the budget again", () => {
  const told: string[] = [];
  const effort = effortOf({ hosts: 0, spent: (words) => told.push(words) });
  for (let stretch = 0; stretch < 4; stretch++) {
    for (let call = 0; call < 49_000; call++) effort.spend();
    effort.renew();
  }
  for (let request = 0; request < 400; request++) {
    for (let call = 0; call < 490; call++) effort.spend();
    effort.request();
  }
  assert.deepEqual(told, []);
  assert.ok(effort.most > 0.9 && effort.most < 1);
});
