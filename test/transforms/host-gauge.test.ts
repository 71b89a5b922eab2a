import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryMetrics } from "../../io/metrics.ts";
import { hostGauge } from "../../transforms/host-gauge.ts";

test("each host is counted in its state alone, and in none when it was left to the sweep", () => {
  const metrics = memoryMetrics();
  const gauge = hostGauge(metrics);
  const counts = () => ["waiting", "failing", "resting"].map((state) => metrics.gaugeValue("gleaner_hosts", { state }) ?? 0);
  gauge.set("a.test", "waiting");
  gauge.set("a.test", "waiting");
  gauge.set("b.test", "waiting");
  assert.deepEqual(counts(), [2, 0, 0]);
  gauge.set("a.test", "failing");
  gauge.set("b.test", "resting");
  assert.deepEqual(counts(), [0, 1, 1]);
  gauge.set("a.test", undefined);
  gauge.set("never-seen.test", undefined);
  gauge.set("b.test", undefined);
  assert.deepEqual(counts(), [0, 0, 0]);
});
