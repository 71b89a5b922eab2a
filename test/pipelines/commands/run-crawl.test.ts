// Does a crawl read its orders once at the start, and hear of each later change?
import assert from "node:assert/strict";
import { test } from "node:test";
import { ordersFrom } from "../../../pipelines/commands/run-crawl.ts";
import type { HostPolicies } from "../../../schemas/crawl-config.ts";

const version = (number: number): HostPolicies => ({ version: number, hosts: [] });

const table: [situation: string, changes: (number | undefined)[], told: (number | undefined)[]][] = [
  ["what stood at the start is told once", [undefined, undefined, 2], [1, undefined, 2]],
  ["what has come since the start is told in its place", [2, undefined, undefined], [2, undefined, undefined]],
];
for (const [situation, changes, told] of table)
  test(situation, async () => {
    const left = changes.values();
    const looks = ordersFrom(version(1), async () => {
      const next = left.next().value;
      return next === undefined ? undefined : version(next);
    });
    const found: (number | undefined)[] = [];
    for (const _ of changes) found.push((await looks())?.version);
    assert.deepEqual(found, told);
  });
