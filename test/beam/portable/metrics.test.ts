import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type MetricValue, readMetric } from "../../../beam/portable/metrics.ts";

const read = (type: string, payload: number[] | Uint8Array) =>
  readMetric({ urn: "u", labels: {}, type: `beam:metrics:${type}:v1`, payload: Uint8Array.from(payload) }).value;

const other = (type: string): MetricValue => ({ kind: "other", type: `beam:metrics:${type}:v1` });
const table: [type: string, payload: number[], value: MetricValue][] = [
  ["sum_int64", [0], { kind: "sum", value: 0 }],
  ["sum_int64", [0xac, 2], { kind: "sum", value: 300 }],
  ["sum_int64", [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], { kind: "sum", value: -1 }],
  ["latest_int64", [5, 7], { kind: "latest", value: 7 }],
  ["distribution_int64", [2, 10, 3, 7], { kind: "distribution", count: 2, sum: 10, min: 3, max: 7 }],
  ["sum_int64", [], other("sum_int64")],
  ["sum_int64", [0x80], other("sum_int64")],
  ["distribution_int64", [1, 2, 3], other("distribution_int64")],
  ["progress", [1], other("progress")],
];
for (const [type, payload, value] of table)
  test(`${type} of ${JSON.stringify(payload)} is ${JSON.stringify(value)}`, () => assert.deepEqual(read(type, payload), value));

test("no payload makes it throw", () => {
  const types = fc.constantFrom("sum_int64", "latest_int64", "distribution_int64", "top_n_int64");
  fc.assert(fc.property(types, fc.uint8Array({ maxLength: 64 }), (type, payload) => void read(type, payload)));
});
