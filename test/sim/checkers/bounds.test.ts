import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "../../../schemas/limits.ts";
import { bounds } from "./bounds.ts";
import { facts } from "./given.ts";

const full = { queued: limits.stageElements, queuedMax: limits.stageElements, running: 4, settling: 0 };

test("bounds: full queues are within their bounds", () => {
  const checker = bounds(facts());
  checker.engine?.({ HostFrontier: full }, 3 * limits.fetchers);
  checker.frontier?.(limits.readyUrls);
  assert.deepEqual(checker.violations.words, []);
});

test("bounds: one more is too many, in a stage, the pool and a frontier", () => {
  const checker = bounds(facts());
  checker.engine?.({ HostFrontier: { ...full, queuedMax: limits.stageElements + 1 } }, 3 * limits.fetchers + 1);
  checker.frontier?.(limits.readyUrls + 1);
  assert.equal(checker.violations.count, 3);
  assert.equal(checker.figures?.().readyMost, limits.readyUrls + 1);
});
