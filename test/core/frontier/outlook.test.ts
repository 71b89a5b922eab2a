import assert from "node:assert/strict";
import { test } from "node:test";
import { hostOutlook, type PendingUrl } from "../../../core/frontier/outlook.ts";
import type { PacePolicy } from "../../../core/politeness/policy.ts";
import type { HostState } from "../../../schemas/host-state.ts";
import { DAY, flight, host, NOW, policy } from "./given.ts";

const pending = (change: Partial<PendingUrl> = {}): PendingUrl => ({
  url: "http://example.org/a",
  dueAt: NOW - 1_000,
  failureCount: 0,
  robots: { verdict: "allow" },
  ...change,
});

interface Row {
  situation: string;
  host?: Partial<HostState>;
  policy?: Partial<PacePolicy>;
  pending?: Partial<PendingUrl>[];
  at: number;
  reason: string;
}

const table: Row[] = [
  { situation: "a host never asked", at: NOW - 1_000, reason: "turn" },
  { situation: "the clock", host: { lastAnsweredAt: NOW }, at: NOW + 1_001, reason: "turn" },
  { situation: "back-off", host: { backoffUntil: NOW + 9_000 }, at: NOW + 9_000, reason: "backoff" },
  {
    situation: "a back-off that ends before the clock allows",
    host: { lastAnsweredAt: NOW, backoffUntil: NOW + 5 },
    at: NOW + 1_001,
    reason: "turn",
  },
  { situation: "a retry", pending: [{ dueAt: NOW + 60_000, failureCount: 2 }], at: NOW + 60_000, reason: "retry" },
  { situation: "a first fetch due later", pending: [{ dueAt: NOW + 60_000 }], at: NOW + 60_000, reason: "turn" },
  {
    situation: "the host rests longer than the URL",
    host: { backoffUntil: NOW + 90_000 },
    pending: [{ dueAt: NOW + 60_000, failureCount: 2 }],
    at: NOW + 90_000,
    reason: "backoff",
  },
  {
    situation: "robots.txt unreachable",
    pending: [{ robots: { verdict: "unreachable", reason: "timeout", until: NOW + 300_000 } }],
    at: NOW + 300_000,
    reason: "robots-unreachable",
  },
  {
    situation: "robots.txt unreachable, and a back-off that lasts longer",
    host: { backoffUntil: NOW + 40_000 },
    pending: [{ robots: { verdict: "unreachable", reason: "timeout", until: NOW + 30_000 } }],
    at: NOW + 40_000,
    reason: "robots-unreachable",
  },
  {
    situation: "robots.txt put off",
    pending: [{ robots: { verdict: "deferred", until: NOW + 30_000 } }],
    at: NOW + 30_000,
    reason: "robots-deferred",
  },
  {
    situation: "a refused address is settled without waiting",
    pending: [{ robots: { verdict: "unreachable", reason: "address", until: NOW + 300_000 } }],
    at: NOW - 1_000,
    reason: "turn",
  },
  {
    situation: "the first that can start decides",
    pending: [
      { url: "http://example.org/blocked", robots: { verdict: "unreachable", until: NOW + 300_000 } },
      { dueAt: NOW + 7 },
      { url: "http://example.org/later", dueAt: NOW + 8 },
    ],
    at: NOW + 7,
    reason: "turn",
  },
  {
    situation: "a request whose answer was never heard",
    host: { inFlight: [flight()] },
    at: NOW + 35_150 + 15_000,
    reason: "unheard",
  },
  { situation: "paused by policy", policy: { paused: true }, at: NOW + DAY, reason: "paused" },
  { situation: "paused for a time", host: { pausedUntil: NOW + 60_000 }, at: NOW + 60_000, reason: "paused" },
  { situation: "moved", host: { movedTo: "example.net" }, at: NOW + DAY, reason: "moved" },
  { situation: "the page limit", host: { pages: 100 }, at: NOW + DAY, reason: "page-limit" },
];
for (const row of table)
  test(`the outlook: ${row.situation}: ${row.reason}`, () => {
    const urls = (row.pending ?? [{}]).map(pending);
    const outlook = hostOutlook(host(row.host), policy(row.policy), urls, NOW);
    assert.ok(outlook.kind === "pending");
    assert.deepEqual([outlook.at, outlook.reason], [row.at, row.reason]);
    assert.ok(urls.some(({ url }) => url === outlook.url));
  });

test("nothing pending is idle, whatever the host's state", () => {
  assert.deepEqual(hostOutlook(host({ backoffUntil: NOW + DAY }), policy({ paused: true }), [], NOW), { kind: "idle" });
});
