import assert from "node:assert/strict";
import { test } from "node:test";
import { hostTurns } from "../../../transforms/fetch/host-turns.ts";

test("work of one key runs one after another in the order asked, also after a failure; other keys go on", async () => {
  const turns = hostTurns();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = turns.next("a", async () => {
    seen.push("a1");
    await gate.promise;
    seen.push("a1 ends");
    throw new Error("a1");
  });
  const second = turns.next("a", async () => void seen.push("a2"));
  await turns.next("b", async () => void seen.push("b1"));
  assert.deepEqual(seen, ["a1", "b1"]);
  gate.resolve();
  await assert.rejects(first, /a1/);
  await second;
  assert.deepEqual(seen, ["a1", "b1", "a1 ends", "a2"]);
});

test("a key that nobody waits for is forgotten: its next work starts at once", async () => {
  const turns = hostTurns();
  await turns.next("a", async () => {});
  let ran = false;
  const again = turns.next("a", async () => {
    ran = true;
  });
  assert.equal(ran, true);
  await again;
});
