import assert from "node:assert/strict";
import { test } from "node:test";
import { pacePolicy } from "../../../core/politeness/policy.ts";
import type { CrawlConfig, HostPolicy } from "../../../schemas/crawl-config.ts";
import { limits } from "../../../schemas/limits.ts";
import { crawlConfig } from "../../transforms/world.ts";

const fast = crawlConfig({ delayMs: 200, hostConcurrency: 4 });
const agreed = (policy: HostPolicy): CrawlConfig => ({ ...fast, policies: [policy] });

const table: [situation: string, config: CrawlConfig, paceKey: string, viaAllowed: boolean, pace: [number, number]][] = [
  ["below the default, with nobody's consent: the default", fast, "example.org", false, [1000, 1]],
  ["reached through --allow-address: as asked", fast, "example.org", true, [200, 4]],
  ["a slower crawl is slower everywhere", crawlConfig({ delayMs: 3_000 }), "example.org", false, [3_000, 1]],
  ["an agreed host", agreed({ host: "example.org", delayMs: 50, concurrency: 2 }), "example.org", false, [50, 2]],
  ["named without figures: as the crawl asks", agreed({ host: "example.org" }), "example.org", false, [200, 4]],
  ["all ports of an agreed host", agreed({ host: "example.org", delayMs: 50 }), "example.org:8080", false, [50, 4]],
  ["one agreed port", agreed({ host: "example.org:8080", delayMs: 50 }), "example.org:8080", false, [50, 4]],
  ["another port than the agreed one", agreed({ host: "example.org:8080", delayMs: 50 }), "example.org", false, [1000, 1]],
  ["below an agreed domain", agreed({ host: "*.example.org", delayMs: 50 }), "a.b.example.org:81", false, [50, 4]],
  ["an agreed domain itself", agreed({ host: "*.example.org", delayMs: 50 }), "example.org", false, [50, 4]],
  ["a name that only ends alike", agreed({ host: "*.example.org", delayMs: 50 }), "badexample.org", false, [1000, 1]],
  ["a measure of ours, which is no consent", agreed({ host: "example.org", agreed: false }), "example.org", false, [1000, 1]],
  ["a measure that slows", agreed({ host: "example.org", agreed: false, delayMs: 9_000 }), "example.org", false, [9_000, 1]],
  [
    "a measure that asks for more than the default",
    agreed({ host: "*", delayMs: 1, concurrency: 9 }),
    "example.org",
    false,
    [1000, 1],
  ],
  ["a policy for some URLs is no consent", agreed({ host: "example.org", pattern: "**/x" }), "example.org", false, [1000, 1]],
  ["below a host that was agreed alone", agreed({ host: "example.org", delayMs: 50 }), "a.example.org", false, [1000, 1]],
];
for (const [situation, config, paceKey, viaAllowed, pace] of table)
  test(`the allowance: ${situation}`, () => {
    const { delayMs, concurrency } = pacePolicy(config, paceKey, { viaAllowed });
    assert.deepEqual([delayMs, concurrency], pace);
  });

test("the first policy that names the host holds, with its pages and its pause", () => {
  const policies = [
    { host: "example.org", pagesMax: 5, paused: true },
    { host: "*.example.org", pagesMax: 9 },
  ];
  const { pagesMax, paused, version, requestMs } = pacePolicy({ ...fast, policies }, "example.org");
  assert.deepEqual({ pagesMax, paused, version, requestMs }, { pagesMax: 5, paused: true, version: 1, requestMs: 30_000 });
  assert.equal(pacePolicy({ ...fast, policies }, "www.example.org").pagesMax, 9);
  assert.equal(pacePolicy({ ...fast, policies }, "example.net").pagesMax, 1000);
});

test("each field is decided by the first policy for the whole host that sets it", () => {
  const policies: HostPolicy[] = [
    { host: "example.org", pattern: "http://example.org/x**", paused: true, excluded: true },
    { host: "example.org", agreed: false, limits: { pagesPerDay: 7 } },
    { host: "example.org", delayMs: 300, limits: { pagesPerDay: 9, bytesPerDay: 1_000 } },
    { host: "*", pagesMax: 12, delayMs: 8_000 },
  ];
  const { delayMs, pagesMax, paused, dayBudget } = pacePolicy({ ...fast, policies }, "example.org");
  assert.deepEqual(
    { delayMs, pagesMax, paused, dayBudget },
    { delayMs: 300, pagesMax: 12, paused: false, dayBudget: { pagesPerDay: 7, bytesPerDay: 1_000 } },
  );
});

test("an excluded host gets no request, and a day has its default budget", () => {
  const { paused, dayBudget } = pacePolicy(agreed({ host: "example.org", excluded: true }), "example.org");
  assert.equal(paused, true);
  assert.deepEqual(dayBudget, { pagesPerDay: limits.pagesPerHostDay, bytesPerDay: limits.bytesPerHostDay });
});
