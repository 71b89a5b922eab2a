import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { distribution } from "../../io/distribution.ts";
import { memoryMetrics } from "../../io/metrics.ts";

test("counters add up by their labels, and over all of them", () => {
  const metrics = memoryMetrics();
  metrics.count("fetches_total");
  metrics.count("fetches_total", 2, { outcome: "failed", reason: "dns" });
  metrics.count("fetches_total", 3, { reason: "dns", outcome: "failed" });
  metrics.count("fetches_total", 4, { outcome: "gone" });
  metrics.count("fetches_total_more", 100);
  assert.equal(metrics.counter("fetches_total"), 1);
  assert.equal(metrics.counter("fetches_total", { outcome: "failed", reason: "dns" }), 5);
  assert.equal(metrics.counter("fetches_total", { outcome: "failed" }), 0);
  assert.equal(metrics.counter("unknown"), 0);
  assert.equal(metrics.total("fetches_total"), 10);
  assert.deepEqual(metrics.totalsBy("fetches_total", "outcome"), { failed: 5, gone: 4 });
});

test("names and values that run together are other series", () => {
  const metrics = memoryMetrics();
  metrics.count("a", 1, { b: "c", d: "e" });
  metrics.count("a", 1, { b: "cd", e: "" });
  metrics.count("ab", 1, { c: "de" });
  assert.equal(metrics.snapshot().counters.length, 3);
});

test("a gauge keeps its last value", () => {
  const metrics = memoryMetrics();
  assert.equal(metrics.gaugeValue("waiting"), undefined);
  for (const value of [5, 2]) metrics.gauge("waiting", value, { stage: "fetch" });
  assert.equal(metrics.gaugeValue("waiting", { stage: "fetch" }), 2);
});

test("a snapshot is JSON, in order, with the shape of each distribution", () => {
  const metrics = memoryMetrics();
  metrics.count("b_total", 1, { x: "2" });
  metrics.count("b_total", 1, { x: "1" });
  metrics.count("a_total");
  metrics.gauge("waiting", 3);
  for (let value = 1; value <= 100; value++) metrics.observe("latency_ms", value);
  const { counters, gauges, histograms } = JSON.parse(JSON.stringify(metrics.snapshot()));
  assert.deepEqual(counters, [
    { name: "a_total", labels: {}, value: 1 },
    { name: "b_total", labels: { x: "1" }, value: 1 },
    { name: "b_total", labels: { x: "2" }, value: 1 },
  ]);
  assert.deepEqual(gauges, [{ name: "waiting", labels: {}, value: 3 }]);
  const [{ count, sum, min, max, p50 }] = histograms;
  assert.deepEqual({ count, sum, min, max }, { count: 100, sum: 5050, min: 1, max: 100 });
  assert.ok(Math.abs(p50 - 50) <= 50 / 32 + 1);
});

test("labels that should not be labels are counted together beyond the limit; totals stay right", () => {
  const metrics = memoryMetrics();
  for (let host = 0; host < 12_000; host++) metrics.count("by_host_total", 1, { host: String(host) });
  assert.equal(metrics.total("by_host_total"), 12_000);
  assert.equal(metrics.counter("by_host_total", { overflow: "true" }), 2000);
  assert.equal(metrics.snapshot().counters.length, 10_001);
});

test("a quantile lies within a thirty-second of the true one, for any values", () => {
  const value = fc.double({ min: 1e-6, max: 1e12, noNaN: true });
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 200 }), fc.double({ min: 0, max: 1, noNaN: true }), (values, q) => {
      const spread = distribution();
      for (const one of values) spread.add(one);
      const sorted = [...values].sort((a, b) => a - b);
      const exact = sorted[Math.max(1, Math.ceil(q * values.length)) - 1]!;
      assert.ok(Math.abs(spread.quantile(q) - exact) <= exact / 32);
      assert.deepEqual([spread.count, spread.min, spread.max], [values.length, sorted[0], sorted.at(-1)]);
    }),
  );
});

test("an empty distribution is all zeros; what is below 0 counts as 0 and what is no number not at all", () => {
  const spread = distribution();
  assert.deepEqual([spread.count, spread.sum, spread.min, spread.max, spread.quantile(0.5)], [0, 0, 0, 0, 0]);
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, -3, 0]) spread.add(value);
  assert.deepEqual([spread.count, spread.sum, spread.quantile(1)], [2, 0, 0]);
});
