import assert from "node:assert/strict";
import { test } from "node:test";
import { pageBudget } from "../../../transforms/fetch/page-budget.ts";

test("as many pages as there are, and one more when one is given back", () => {
  const budget = pageBudget(2);
  assert.deepEqual([budget.take(), budget.take(), budget.take()], [true, true, false]);
  budget.giveBack();
  assert.deepEqual([budget.left, budget.take(), budget.take()], [1, true, false]);
});

test("what earlier runs asked for is spent, more than there is too", () => {
  const budget = pageBudget(3);
  budget.spend(2);
  assert.deepEqual([budget.take(), budget.take()], [true, false]);
  const overdrawn = pageBudget(3);
  overdrawn.spend(5);
  assert.equal(overdrawn.take(), false);
  assert.ok(overdrawn.left <= 0);
});

test("without a bound there is always one", () => {
  const budget = pageBudget();
  budget.spend(1e9);
  assert.equal(budget.take(), true);
});
