import assert from "node:assert/strict";
import { test } from "node:test";
import { heldWait, spreadWait } from "../../../core/revisit/settled-wait.ts";
import { seededRandom } from "../../../io/random.ts";

const HOUR = 3_600_000;

test("what is held is judged again within the hour at first, then after an eighth of its pause, and each day at least", () => {
  const waits = [0, 1, 8, 16, 48, 192, 1_000].map((hours) => heldWait(hours * HOUR) / HOUR);
  assert.deepEqual(waits, [1, 1, 1, 2, 6, 24, 24]);
});

test("leases that end at one moment spread their URLs over the last quarter of the wait, evenly, and each the same way again", () => {
  const random = seededRandom("leases");
  const leases = Array.from({ length: 4_000 }, () => random.token().slice(0, 12));
  const waits = leases.map((leaseId) => spreadWait(HOUR, leaseId));
  assert.ok(waits.every((wait) => wait > 0.75 * HOUR && wait <= HOUR));
  const tenths = new Array<number>(10).fill(0);
  for (const wait of waits) tenths[Math.min(9, Math.floor((wait / HOUR - 0.75) * 40))]!++;
  assert.ok(Math.min(...tenths) > 300 && Math.max(...tenths) < 500, tenths.join(" "));
  assert.equal(spreadWait(HOUR, leases[1]!), waits[1]);
});
