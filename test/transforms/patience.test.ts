import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../../ports/versioned-table.ts";
import { patiently } from "../../transforms/patience.ts";
import { virtualClock } from "../lib/virtual-clock.ts";

/** Refuses so often before it answers; tells how often it was asked and how long that took. */
async function asked(refusals: number, error: Error = new StoreError("away")) {
  const clock = virtualClock(0);
  let asks = 0;
  const answer = patiently({ clock }, async () => {
    asks++;
    if (asks <= refusals) throw error;
    return "answer";
  }).catch((reason: Error) => reason.message);
  await clock.run(60_000);
  return { answer: await answer, asks };
}

test("a store that refuses is asked again, but not for ever", async () => {
  assert.deepEqual(await asked(5), { answer: "answer", asks: 6 });
  assert.deepEqual(await asked(6), { answer: "away", asks: 6 });
});

test("what is broken for good, or is no store's fault, is not waited for", async () => {
  assert.deepEqual(await asked(1, new StoreError("damaged", { final: true })), { answer: "damaged", asks: 1 });
  assert.deepEqual(await asked(1, new TypeError("ours")), { answer: "ours", asks: 1 });
});
