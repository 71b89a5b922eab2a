// Does a URL's reason follow the order in which a grant and an admit would check?
import assert from "node:assert/strict";
import { test } from "node:test";
import { explainUrl, type UrlFacts } from "../../../core/frontier/explain-url.ts";
import { newHost } from "../../../core/politeness/host-clock.ts";
import type { PacePolicy } from "../../../core/politeness/policy.ts";
import type { Flight, HostState } from "../../../schemas/host-state.ts";

const NOW = 1_000_000;
const policy: PacePolicy = {
  delayMs: 1000,
  concurrency: 1,
  latencyFactor: 1,
  requestMs: 30_000,
  pagesMax: 10,
  paused: false,
  dayBudget: { pagesPerDay: 1_000, bytesPerDay: 1_000_000 },
  version: 1,
};
const host = (changes: Partial<HostState> = {}): HostState => ({ ...newHost(1), lastAnsweredAt: NOW - 60_000, ...changes });
const flightOf = (urlId: string, expiresAt = NOW + 30_000): Flight => ({
  token: "t",
  leaseId: "l",
  urlId,
  hostKey: "http://a.test",
  kind: "page",
  version: 0,
  admittedAt: NOW - 100,
  sendBy: NOW,
  expiresAt,
});
const facts = (changes: Partial<UrlFacts>): UrlFacts => ({
  urlId: "mine",
  record: { nextFetchAt: NOW - 1 },
  entryStands: true,
  robots: { verdict: "allow" },
  host: host(),
  policy,
  pagesLeft: Number.POSITIVE_INFINITY,
  now: NOW,
  ...changes,
});
const later = { nextFetchAt: NOW + 50 };
const resting = host({ backoffUntil: NOW + 70, backoffReason: "500" });

const table: [situation: string, changes: Partial<UrlFacts>, expected: ReturnType<typeof explainUrl>["because"]][] = [
  ["a request for it is booked", { host: host({ inFlight: [flightOf("mine")] }), record: later }, "in-flight"],
  ["its booking has expired", { host: host({ inFlight: [flightOf("mine", NOW - 1)] }) }, "backoff"],
  ["its time lies ahead", { record: later, policy: { ...policy, paused: true } }, "not-due"],
  ["no due entry", { entryStands: false, policy: { ...policy, paused: true } }, "no-due-entry"],
  ["paused by policy", { policy: { ...policy, paused: true }, robots: { verdict: "disallow" } }, "paused"],
  ["paused for a time", { host: host({ pausedUntil: NOW + 5 }) }, "paused"],
  ["moved", { host: host({ movedTo: "b.test" }) }, "moved"],
  ["forbidden", { robots: { verdict: "disallow" }, host: resting }, "robots-forbidden"],
  ["robots.txt unreachable", { robots: { verdict: "unreachable", until: NOW + 9 } }, "robots-unreachable"],
  ["the guard refuses", { robots: { verdict: "unreachable", reason: "address", until: NOW + 9 } }, "address"],
  ["robots.txt deferred", { robots: { verdict: "deferred", until: NOW + 9 } }, "robots-deferred"],
  ["robots.txt unknown", { robots: { verdict: "missing" } }, "robots-missing"],
  ["robots.txt unknown, the host resting", { robots: { verdict: "missing" }, host: resting }, "backoff"],
  ["the host's pages spent", { host: host({ pages: 10, backoffUntil: NOW + 70 }) }, "host-page-limit"],
  ["the crawl's pages spent", { pagesLeft: 0, host: resting }, "page-limit"],
  ["429", { host: host({ backoffUntil: NOW + 70, backoffReason: "429" }) }, "rest-asked"],
  ["back-off", { host: resting }, "backoff"],
  ["another request under way", { host: host({ inFlight: [flightOf("other")] }) }, "concurrency"],
  ["the gap is not over", { host: host({ lastAnsweredAt: NOW - 10 }) }, "clock"],
  ["nothing holds it back", {}, "turn"],
  ["the host was never asked", { host: undefined }, "turn"],
];

for (const [situation, changes, expected] of table)
  test(`${situation}: ${expected}`, () => {
    assert.equal(explainUrl(facts(changes)).because, expected);
  });

test("a reason that ends by itself says when", () => {
  assert.equal(explainUrl(facts({ record: later })).at, NOW + 50);
  assert.equal(explainUrl(facts({ host: resting })).at, NOW + 70);
  assert.equal(explainUrl(facts({ robots: { verdict: "deferred", until: NOW + 9 } })).at, NOW + 9);
  assert.equal(explainUrl(facts({ host: host({ inFlight: [flightOf("other")] }) })).at, NOW + 30_000);
  assert.equal(explainUrl(facts({ pagesLeft: 0 })).at, undefined);
});
