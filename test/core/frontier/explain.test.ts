// Is there one verdict for every way in which a host can be held back, and does the nearer cause win?
import assert from "node:assert/strict";
import { test } from "node:test";
import { explainHost, type HostFacts } from "../../../core/frontier/explain.ts";
import type { PendingUrl } from "../../../core/frontier/outlook.ts";
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
const pending = (changes: Partial<PendingUrl> = {}): PendingUrl => ({
  url: "http://a.test/x",
  dueAt: NOW - 5_000,
  failureCount: 0,
  robots: { verdict: "allow" },
  ...changes,
});
const flight: Flight = {
  token: "t",
  leaseId: "l",
  urlId: "u",
  hostKey: "http://a.test",
  kind: "page",
  version: 0,
  admittedAt: NOW - 100,
  sendBy: NOW,
  expiresAt: NOW + 30_000,
};
const facts = (changes: Partial<HostFacts>): HostFacts => ({
  host: host(),
  policy,
  pending: [pending()],
  settled: {},
  pagesLeft: Number.POSITIVE_INFINITY,
  now: NOW,
  ...changes,
});
const unreachable = (reason: string) => [pending({ robots: { verdict: "unreachable", reason, until: NOW + 9_000 } })];
const forbidden = pending({ robots: { verdict: "disallow", rule: "Disallow: /", line: 2 } });
const paused = { ...policy, paused: true };
const refused = pending({ robots: { verdict: "unreachable", reason: "address", until: NOW + 9_000 } });

const table: [situation: string, changes: Partial<HostFacts>, expected: string][] = [
  ["no record of any kind", { host: undefined, pending: [] }, "unknown-host/never-seen"],
  ["discovered, never asked", { host: undefined }, "politeness-bound/turn"],
  ["due and allowed", {}, "politeness-bound/turn"],
  ["due, the gap not over", { host: host({ lastAnsweredAt: NOW - 10 }) }, "politeness-bound/turn"],
  ["robots.txt to be asked first", { pending: [pending({ robots: { verdict: "missing" } })] }, "politeness-bound/turn"],
  ["a request under way", { host: host({ inFlight: [flight] }) }, "politeness-bound/in-flight"],
  ["429", { host: host({ backoffUntil: NOW + 99, backoffReason: "429" }) }, "politeness-bound/rest-asked"],
  ["Retry-After without trouble", { host: host({ backoffUntil: NOW + 99 }) }, "politeness-bound/rest-asked"],
  ["503", { host: host({ backoffUntil: NOW + 99, backoffReason: "503" }) }, "failing/backoff"],
  ["timeouts", { host: host({ backoffUntil: NOW + 99, backoffReason: "timeout" }) }, "failing/backoff"],
  ["an answer never heard", { host: host({ inFlight: [{ ...flight, expiresAt: NOW - 1 }] }) }, "failing/backoff"],
  ["only a retry pending", { pending: [pending({ failureCount: 2, dueAt: NOW + 60_000 })] }, "failing/retry"],
  [
    "a retry and a first fetch",
    { pending: [pending({ failureCount: 2, dueAt: NOW + 60_000 }), pending()] },
    "politeness-bound/turn",
  ],
  ["robots.txt answers 5xx", { pending: unreachable("status") }, "robots-bound/robots-unreachable"],
  ["robots.txt redirects without end", { pending: unreachable("redirect-hops") }, "robots-bound/robots-unreachable"],
  ["nothing listens there", { pending: unreachable("connect") }, "failing/robots-unreachable"],
  [
    "robots.txt answers 429",
    { pending: [pending({ robots: { verdict: "deferred", until: NOW + 9 } })] },
    "robots-bound/robots-deferred",
  ],
  ["all that is pending is forbidden", { pending: [forbidden, forbidden] }, "robots-bound/robots-forbidden"],
  ["some of it is forbidden", { pending: [forbidden, pending()] }, "politeness-bound/turn"],
  ["the guard refuses its address", { pending: [refused] }, "failing/address"],
  ["paused by policy", { policy: paused }, "paused/paused"],
  ["paused for a time", { host: host({ pausedUntil: NOW + 99 }) }, "paused/paused"],
  ["paused, with a request under way", { policy: paused, host: host({ inFlight: [flight] }) }, "paused/paused"],
  ["another clock took over", { host: host({ movedTo: "b.test" }) }, "paused/moved"],
  ["its own page limit", { host: host({ pages: 10 }) }, "budget/host-page-limit"],
  ["the crawl's page limit", { pagesLeft: 0 }, "budget/page-limit"],
  ["paused and the crawl's page limit", { policy: paused, pagesLeft: 0 }, "paused/paused"],
  ["nothing pending", { pending: [] }, "idle/nothing-pending"],
  ["nothing pending, the page limit reached", { pending: [], pagesLeft: 0 }, "idle/nothing-pending"],
  ["visited, part forbidden", { pending: [], settled: { fetched: 1, robots: 90 } }, "idle/nothing-pending"],
  ["all gone", { pending: [], settled: { gone: 3 } }, "idle/nothing-pending"],
  ["all forbidden", { pending: [], settled: { robots: 3 } }, "robots-bound/robots-forbidden"],
  ["all failed for good", { pending: [], settled: { failed: 2, "server-error": 1, robots: 1 } }, "failing/given-up"],
  ["all refused by the guard", { pending: [], settled: { address: 2 } }, "failing/address"],
];

for (const [situation, changes, expected] of table)
  test(`${situation}: ${expected}`, () => {
    const { verdict, because } = explainHost(facts(changes));
    assert.equal(`${verdict}/${because}`, expected);
  });

test("what has a time tells the first URL in line and the time from which it can be asked for", () => {
  const late = { ...pending({ url: "http://a.test/late", dueAt: NOW + 60_000, failureCount: 1 }) };
  const answered = host({ lastAnsweredAt: NOW - 400 });
  const { at = 0, url } = explainHost(facts({ host: answered, pending: [late, pending()] }));
  assert.equal(url, "http://a.test/x");
  assert.ok(at >= NOW + 600 && at <= NOW + 601, `${at}`); // whole milliseconds may round the gap up
});

test("what ends by no time of its own has none", () => {
  for (const changes of [{ policy: paused }, { pagesLeft: 0 }, { host: host({ pages: 10 }) }, { pending: [] }])
    assert.equal(explainHost(facts(changes)).at, undefined);
});
