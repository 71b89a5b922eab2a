// Does explain give the verdict first, and the numbers that it rests on?
import assert from "node:assert/strict";
import { test } from "node:test";
import { newHost } from "../../core/politeness/host-clock.ts";
import { counted, newTemplateCount } from "../../core/traps/template-verdict.ts";
import { urlIdentity } from "../../core/url/keys.ts";
import type { HostState } from "../../schemas/host-state.ts";
import type { RobotsState } from "../../schemas/robots-state.ts";
import type { TemplateCount } from "../../schemas/template-count.ts";
import { runTool } from "../../tools/lib/command.ts";
import { explainTool } from "../../tools/lib/explain-tool.ts";
import { dataFolder, type GivenData } from "./data-folder.ts";

const NOW = Date.now();
const HOUR = 3_600_000;
const robots = (changes: Partial<RobotsState> = {}): RobotsState => ({
  status: "rules",
  fetchedAt: NOW - HOUR,
  expiresAt: NOW + HOUR,
  httpStatus: 200,
  body: Buffer.from("User-agent: *\nDisallow: /no\n"),
  ...changes,
});
const host = (changes: Partial<HostState> = {}): HostState => ({
  ...newHost(1),
  lastAnsweredAt: NOW - HOUR,
  lastEndAt: NOW - HOUR,
  ...changes,
});

const names = ["slow", "forbidden", "down", "full", "held", "idle", "fresh"];
const given: GivenData = {
  seeds: names.map((name) => `http://${name}.test/`),
  config: { pagesPerHost: 3 },
  hosts: {
    "slow.test": host({ crawlDelayMs: 2 * HOUR, latencyMs: 250 }),
    "forbidden.test": host(),
    "down.test": host({ backoffUntil: NOW + HOUR, backoffReason: "timeout", backoffLevel: 3 }),
    "full.test": host({ pages: 3, day: { day: Math.floor(NOW / (24 * HOUR)), pages: 2, bytes: 700 } }),
    "held.test": host({ pausedUntil: NOW + HOUR }),
    "idle.test": host({ smallestGap: { gapMs: 1003, allowedMs: 1000 } }),
  },
  robots: Object.fromEntries(names.map((name) => [`http://${name}.test`, robots()])),
  urls: [
    ...Array.from({ length: 1_005 }, (_, index) => ({ url: `http://slow.test/${index}`, nextFetchAt: NOW - 5 })),
    { url: "http://forbidden.test/no", version: 1, priority: 3, nextFetchAt: NOW + HOUR, lastOutcome: "robots" },
    { url: "http://down.test/", priority: 0 },
    { url: "http://full.test/x" },
    { url: "http://held.test/x" },
    { url: "http://idle.test/", version: 1, priority: 2, nextFetchAt: NOW + HOUR, lastOutcome: "fetched" },
    { url: "http://fresh.test/", priority: 0 },
  ],
  fetches: [
    {
      at: NOW - HOUR,
      url: "http://down.test/",
      urlId: "u",
      hostKey: "http://down.test",
      paceKey: "down.test",
      kind: "page",
      leaseId: "l",
      version: 0,
      outcome: "failed",
      reason: "timeout",
    },
  ],
};

const table: [host: string, code: number, first: RegExp, evidence: RegExp[]][] = [
  [
    "slow.test",
    0,
    /^slow\.test: politeness-bound\. .*clock decides/,
    [
      /next turn .* in 59 min/,
      /more than 1000 URLs, first fetches/,
      /owed 2 h .*\(Crawl-delay\), and 250 ms/,
      /first in line +http:\/\/slow\.test\//,
    ],
  ],
  [
    "forbidden.test",
    0,
    /^forbidden\.test: robots-bound\. robots\.txt forbids all/,
    [/robots 1, such as http:\/\/forbidden\.test\/no/],
  ],
  [
    "down.test",
    0,
    /^down\.test: failing\. /,
    [
      /back-off until .*reason timeout, level 3: the next trouble costs 2 min or more/,
      /last failures +http:\/\/down\.test\/ .*failed, timeout/,
    ],
  ],
  ["full.test", 0, /^full\.test: budget\. /, [/pages asked for 3 of 3/, /today \(UTC\) +2 of 86400 pages, 700 of \d+ bytes/]],
  ["held.test", 0, /^held\.test: paused\. /, [/paused until/]],
  [
    "idle.test",
    0,
    /^idle\.test: idle\. /,
    [/1 URL, revisits; first due .* in 59 min/, /smallest gap so far 1003 ms, allowed then 1000 ms/, /fetched 1/],
  ],
  ["fresh.test", 0, /^fresh\.test: politeness-bound\. .*No crawl is running/, [/never/, /robots +http:\/\/fresh\.test: rules/]],
  ["nobody.test", 4, /^nobody\.test: unknown host\. .*outside the crawl's scope/, []],
];

test("the verdict stands in the first line, its evidence below", async (context) => {
  const folder = await dataFolder(context, given);
  for (const [name, code, first, evidence] of table) {
    const told = await runTool(explainTool, [name, "--data", folder]);
    assert.equal(told.stderr, "", name);
    assert.equal(told.code, code, name);
    assert.match(told.stdout.split("\n")[0] ?? "", first, name);
    for (const line of evidence) assert.match(told.stdout, line, name);
  }
});

test("--max-pages spent by any host is every host's budget", async (context) => {
  const folder = await dataFolder(context, { ...given, config: { pagesMax: 3 } });
  const { stdout } = await runTool(explainTool, ["fresh.test", "--json", "--data", folder]);
  const { explanation, pagesLeft } = JSON.parse(stdout);
  assert.deepEqual([explanation.verdict, explanation.because, pagesLeft], ["budget", "page-limit", 0]);
});

test("patterns with more URLs than their limit are named with a sample, others are not", async (context) => {
  const series = (template: string, urls: number, pausedAt?: number): TemplateCount => {
    let count = newTemplateCount("http://slow.test", template);
    for (let index = 0; index < urls; index++)
      count = counted(count, urlIdentity(`http://slow.test/?page=${index}`).urlId, `http://slow.test/?page=${index}`);
    return pausedAt === undefined ? count : { ...count, pausedAt };
  };
  const templates = [series("/?page=", 30, NOW - HOUR), series("/?sort=", 5), series("/{number}", 30, NOW - HOUR)];
  const policies = [{ host: "slow.test", limits: { urlsPerQueryTemplate: 10 } }];
  const folder = await dataFolder(context, { ...given, config: { policies }, templates });
  const { stdout } = await runTool(explainTool, ["slow.test", "--data", folder]);
  assert.match(stdout, /traps +\/\?page=: some \d+ URLs, paused since .*, such as http:\/\/slow\.test\/\?page=0\n/);
  assert.doesNotMatch(stdout, /\?sort=|\{number\}/);
});
