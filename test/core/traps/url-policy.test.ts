import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultTrapLimits } from "../../../core/traps/trap-limits.ts";
import { policyFor } from "../../../core/traps/url-policy.ts";
import type { HostPolicy } from "../../../schemas/crawl-config.ts";
import { limits } from "../../../schemas/limits.ts";

const source = (...policies: HostPolicy[]) => ({ policies, depthMax: 12 });
const of = (policies: HostPolicy[], url: string) => policyFor(source(...policies), new URL(url).origin, url);

test("without a policy the defaults hold, with the crawl's own depth, and nothing is switched on", () => {
  assert.deepEqual(of([], "http://a.test/"), {
    limits: { ...defaultTrapLimits, depthMax: 12 },
    parameterRules: [],
    paused: false,
    excluded: false,
  });
});

test("every limit has a default that stands in limits.ts", () => {
  const sources: ReadonlySet<number> = new Set(Object.values(limits));
  for (const [name, value] of Object.entries(defaultTrapLimits)) assert.ok(sources.has(value), name);
});

const FACETS = "http://shop.test/list?**";
const rows: [situation: string, policies: HostPolicy[], url: string, expected: object][] = [
  ["a host's limit", [{ host: "shop.test", limits: { pathDepth: 3 } }], "http://shop.test/a", { pathDepth: 3 }],
  ["another host's", [{ host: "shop.test", limits: { pathDepth: 3 } }], "http://b.test/a", { pathDepth: limits.pathDepth }],
  ["on any port", [{ host: "shop.test", limits: { pathDepth: 3 } }], "https://shop.test:8443/a", { pathDepth: 3 }],
  ["below a domain", [{ host: "*.shop.test", limits: { pathDepth: 3 } }], "http://www.shop.test/", { pathDepth: 3 }],
  ["every host's", [{ host: "*", limits: { pathDepth: 3 } }], "http://any.test/", { pathDepth: 3 }],
  ["a pattern that matches", [{ host: "*", pattern: FACETS, paused: true }], "http://shop.test/list?a=1", { paused: true }],
  ["a pattern that does not", [{ host: "*", pattern: FACETS, paused: true }], "http://shop.test/item?a=1", { paused: false }],
  ["a pattern of another host", [{ host: "b.test", pattern: "**", excluded: true }], "http://shop.test/", { excluded: false }],
  [
    "each limit by the first policy that sets it",
    [
      { host: "shop.test", pattern: FACETS, limits: { parameters: 2 } },
      { host: "shop.test", limits: { parameters: 5, pathDepth: 4 } },
      { host: "*", limits: { parameters: 9, pathDepth: 9, depthMax: 9 } },
    ],
    "http://shop.test/list?a=1",
    { parameters: 2, pathDepth: 4, depthMax: 9 },
  ],
  [
    "a switch turned off before it is turned on",
    [
      { host: "shop.test", pattern: "http://shop.test/keep/**", paused: false },
      { host: "shop.test", paused: true },
    ],
    "http://shop.test/keep/1",
    { paused: false },
  ],
  [
    "rules of the first that has any",
    [
      { host: "shop.test", parameterRules: ["www"] },
      { host: "*", parameterRules: ["session-ids"] },
    ],
    "http://shop.test/",
    { parameterRules: ["www"] },
  ],
];
for (const [situation, policies, url, expected] of rows)
  test(`what holds: ${situation}`, () => {
    const { limits: held, ...rest } = of(policies, url);
    const all: Record<string, unknown> = { ...held, ...rest };
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(all[name], value, name);
  });

test("a host without patterns is resolved once, and one with patterns does not spoil another", () => {
  const config = source({ host: "a.test", paused: true }, { host: "b.test", pattern: "http://b.test/x**", paused: true });
  const first = policyFor(config, "http://a.test", "http://a.test/1");
  assert.equal(policyFor(config, "http://a.test", "http://a.test/2"), first);
  assert.equal(policyFor(config, "http://b.test", "http://b.test/x1").paused, true);
  assert.equal(policyFor(config, "http://b.test", "http://b.test/y").paused, false);
  assert.equal(policyFor(config, "http://c.test", "http://c.test/").paused, false);
});
