// Would the soak notice a crawl that is not polite, memory that grows, or a crawl that ends as it should not?
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CrawlReport } from "../../pipelines/report.ts";
import type { RequestLogEntry, SiteAnswer } from "../lib/web-server.ts";
import { type Judgement, soakJudge } from "./judge.ts";
import { memoryOf, residentBytes } from "./memory.ts";
import { progress, table } from "./say.ts";
import type { SoakSite } from "./site.ts";
import { REASONS, type SoakResult, soakFaults } from "./verdict.ts";

const DELAY_MS = 250;
const handler = (): SiteAnswer => ({});
const sites = new Map<string, SoakSite>([
  ["usual.test", { name: "usual", kind: "large", handler }],
  ["slow.test", { name: "slow", kind: "slow", handler, crawlDelayMs: 1000 }],
  ["locked.test", { name: "locked", kind: "bad robots", handler, locked: true }],
]);

type Ask = [host: string, path: string, startedAt: number, more?: Partial<RequestLogEntry>];

/** Each is answered after 1 ms and ends after 2. */
function judged(...asks: Ask[]): Judgement {
  const judge = soakJudge({ sites, delayMs: DELAY_MS });
  for (const [host, path, startedAt, more] of asks) {
    const times = { startedAt, answeredAt: startedAt + 1, endedAt: startedAt + 2 };
    judge.take({ ...times, host, path, method: "GET", status: 200, concurrent: 1, userAgent: "", ...more });
  }
  return judge.judgement();
}

const robots = (host: string): Ask => [host, "/robots.txt", 0];
const day = Date.parse("2026-01-01T00:00:00Z");

const requests: [situation: string, asks: Ask[], blame: RegExp | undefined][] = [
  ["patience", [robots("usual.test"), ["usual.test", "/", 251]], undefined],
  ["a short gap", [robots("usual.test"), ["usual.test", "/", 250.9]], /249\.9 ms after an answer, not 250/],
  ["the usual gap where a Crawl-delay is owed", [robots("slow.test"), ["slow.test", "/", 900]], /899\.0 ms .* not 1000/],
  ["a Crawl-delay kept", [robots("slow.test"), ["slow.test", "/", 1001]], undefined],
  [
    "a request that had no answer: the gap counts from its end",
    [
      robots("usual.test"),
      ["usual.test", "/", 300, { answeredAt: undefined, endedAt: 800 } as object],
      ["usual.test", "/1", 900],
    ],
    /100\.0 ms after an answer/,
  ],
  ["two at once", [robots("usual.test"), ["usual.test", "/", 300, { concurrent: 2 }]], /another request was under way/],
  ["a page before robots.txt", [["usual.test", "/", 0]], /before robots\.txt was answered/],
  ["a page though robots.txt never came", [robots("locked.test"), ["locked.test", "/", 300]], /though robots\.txt never came/],
  ["a forbidden page", [robots("usual.test"), ["usual.test", "/private/1", 300]], /which robots\.txt forbids/],
  ["a host of somebody else", [["169.254.169.254", "/", 0]], /a host that is none of the web's/],
  [
    "no heed of Retry-After in seconds",
    [
      ["usual.test", "/robots.txt", 0, { retryAfter: "2" }],
      ["usual.test", "/", 1900],
    ],
    /101\.0 ms before the end of a Retry-After/,
  ],
  [
    "Retry-After kept",
    [
      ["usual.test", "/robots.txt", 0, { retryAfter: "2" }],
      ["usual.test", "/", 2001],
    ],
    undefined,
  ],
  [
    "no heed of Retry-After as a date",
    [
      ["usual.test", "/robots.txt", day - 900, { retryAfter: new Date(day).toUTCString() }],
      ["usual.test", "/", day - 10],
    ],
    /10\.0 ms before the end of a Retry-After/,
  ],
];

for (const [situation, asks, blame] of requests)
  test(`${situation}: ${blame === undefined ? "no violation" : "a violation"}`, () => {
    const { violations, samples } = judged(...asks);
    assert.equal(violations, blame === undefined ? 0 : 1, samples.join("\n"));
    if (blame !== undefined) assert.match(samples[0] ?? "", blame);
  });

test("a rest stands through the requests that ignore it, and each of them is one violation", () => {
  const rest: Ask = ["usual.test", "/robots.txt", 0, { retryAfter: "2" }];
  const { violations } = judged(rest, ["usual.test", "/1", 500], ["usual.test", "/2", 1000], ["usual.test", "/3", 2001]);
  assert.equal(violations, 2);
});

test("requests, pages, hosts, kinds and gaps are counted; violations are named up to a number", () => {
  const asks = Array.from({ length: 30 }, (_, index): Ask => ["usual.test", `/private/${index}`, 300 * (index + 1)]);
  const judgement = judged(robots("usual.test"), robots("slow.test"), ["slow.test", "/", 1500], ...asks);
  assert.deepEqual([judgement.requests, judgement.pages, judgement.hosts], [33, 31, 2]);
  assert.deepEqual(
    [...judgement.kinds],
    [
      ["large", 31],
      ["slow", 2],
    ],
  );
  assert.deepEqual(
    judgement.classes.map(({ owedMs, requests, smallestGapMs }) => [owedMs, requests, smallestGapMs]),
    [
      [250, 31, 299],
      [1000, 2, 1499],
    ],
  );
  assert.deepEqual([judgement.violations, judgement.samples.length], [30, 20]);
});

test("an address that nobody may go to is a violation whoever comes", () => {
  const judge = soakJudge({ sites, delayMs: DELAY_MS });
  judge.trespass("127.0.0.2");
  assert.match(judge.judgement().samples[0] ?? "", /127\.0\.0\.2 was connected to/);
});

test("memory is the last quarter over the second: the first may fill caches, a peak between them is no growth", () => {
  const { growth, peak } = memoryOf([1, 2, 10, 10, 90, 90, 11, 11]);
  assert.equal(growth, 1.1);
  assert.equal(peak, 90);
  assert.ok(Number.isNaN(memoryOf([1, 2, 3]).growth));
});

test("a process is measured with what it started, one that has ended is nothing", {
  skip: process.platform !== "linux" && "no /proc",
}, () => {
  const own = residentBytes(process.pid);
  assert.ok(own > 20 * 1024 * 1024 && own < 4096 * 1024 * 1024, String(own));
  assert.ok(residentBytes(process.ppid) >= own);
  assert.equal(residentBytes(2 ** 30), 0);
});

const good: SoakResult = {
  judgement: judged(robots("usual.test"), ["usual.test", "/", 300]),
  crawl: { samples: Array<number>(160).fill(2 ** 20), alarms: [], alarmsCount: 0, last: [] },
  end: {
    code: 130,
    report: {
      discovered: 7,
      outcomes: { fetched: 1 },
      reasons: Object.fromEntries(REASONS.map((reason) => [reason, 1])),
      refusals: {},
    } as unknown as CrawlReport,
  },
  kinds: new Set(["large"]),
  steadyKinds: new Set(["large"]),
  earlier: new Map(),
};
const growing = Array.from({ length: 160 }, (_, index) => 2 ** 20 * (1 + index / 160));

const results: [situation: string, change: Partial<SoakResult>, fault: RegExp | undefined][] = [
  ["all as it should be", {}, undefined],
  ["memory that grows", { crawl: { ...good.crawl, samples: growing } }, /memory grew to 1\.\d\d times/],
  ["memory that grows in a run too short to tell", { crawl: { ...good.crawl, samples: growing.slice(0, 100) } }, undefined],
  ["a crash line", { crawl: { ...good.crawl, alarms: ["TypeError: x"], alarmsCount: 1 } }, /1 lines on stderr/],
  ["a crawl that ended by itself", { end: { ...good.end, code: 0 } }, /ended with 0, not 130/],
  ["a crawl that was killed", { end: { ...good.end, code: null } }, /ended with a signal/],
  ["a crawl without a report", { end: { code: 130, report: undefined } }, /no report/],
  ["hosts that nobody came to", { kinds: new Set(["large", "bomb"]) }, /these kinds: bomb/],
  [
    "hosts that nobody came to in a run too short to tell",
    { kinds: new Set(["large", "bomb"]), crawl: { ...good.crawl, samples: [1, 1] } },
    undefined,
  ],
  ["hosts that had an end", { earlier: new Map([["large", 2]]) }, /asked no more in the last quarter: large/],
  [
    "attacks that nobody noticed",
    {
      end: { code: 130, report: { discovered: 7, outcomes: {}, reasons: {}, refusals: { echo: 1 } } as unknown as CrawlReport },
    },
    /not led to say: decoded-bytes, .*template-limit/,
  ],
  ["a violation", { judgement: judged(["usual.test", "/", 0]) }, /1 violations of politeness/],
];

for (const [situation, change, fault] of results)
  test(`${situation}: ${fault === undefined ? "it holds" : "it does not hold"}`, () => {
    const found = soakFaults({ ...good, ...change });
    if (fault === undefined) assert.deepEqual(found, []);
    else assert.match(found.join("\n"), fault);
  });

test("the table has each figure on a line, and the progress line those that matter meanwhile", () => {
  const told = table(good, 90);
  for (const row of [
    /time +\| 1\.5 min/,
    /250 ms are owed +\| 299\.0 ms of 2 requests/,
    /URLs found +\| 7 /,
    /1\.00 times that/,
  ])
    assert.match(told, row);
  assert.match(
    progress(30, good.judgement, 2 ** 21),
    /^soak: 30 s {2}2 requests {2}1 pages {2}1 hosts {2}2 MiB resident {2}0 violations$/,
  );
});
