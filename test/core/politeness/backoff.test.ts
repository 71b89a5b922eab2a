import assert from "node:assert/strict";
import { test } from "node:test";
import { backedOff, recovered } from "../../../core/politeness/backoff.ts";
import { limits } from "../../../schemas/limits.ts";
import { host, NOW } from "./given.ts";

test("each trouble doubles the rest, from 15 s to a day", () => {
  let record = host();
  const waits = Array.from({ length: 20 }, () => {
    const at = record.backoffUntil + 1;
    record = { ...record, ...backedOff(record, { reason: "500", at, spread: 0 }) };
    return (record.backoffUntil - at) / 1000;
  });
  assert.deepEqual(waits.slice(0, 5), [15, 30, 60, 120, 240]);
  assert.deepEqual(
    waits.slice(-7),
    Array.from({ length: 7 }, () => limits.backoffMsMax / 1000),
  );
  assert.ok(record.backoffLevel < 20, "the level is bounded too");
});

test("jitter lengthens by a quarter at most, and the day at most by as much", () => {
  const at = (spread: number, backoffLevel = 0) => backedOff(host({ backoffLevel }), { reason: "500", at: NOW, spread });
  assert.equal(at(1).backoffUntil - NOW, 18_750);
  assert.equal(at(1, 30).backoffUntil - NOW, limits.backoffMsMax * 1.25);
  assert.ok(Number.isInteger(at(0.333).backoffUntil));
});

test("recovering forgets the level, and neither a promised time nor its reason", () => {
  assert.deepEqual(recovered(host({ backoffUntil: NOW, backoffLevel: 3, backoffReason: "429" })), {
    backoffUntil: NOW,
    backoffLevel: 0,
    backoffReason: "429",
  });
  assert.deepEqual(recovered(host({ backoffLevel: 3 })), { backoffUntil: 0, backoffLevel: 0 });
});
