// Would the demo notice a crawl that is not polite?
import assert from "node:assert/strict";
import { test } from "node:test";
import { demoVerdict } from "../../demo/verdict.ts";
import { allSites } from "../../demo/web/sites.ts";
import type { RequestLogEntry } from "../lib/web-server.ts";

const DELAY_MS = 200;
const entry = (host: string, path: string, startedAt: number, changes: Partial<RequestLogEntry> = {}): RequestLogEntry => ({
  startedAt,
  answeredAt: startedAt + 1,
  endedAt: startedAt + 2,
  host: `${host}.demo.test`,
  method: "GET",
  path,
  status: 200,
  concurrent: 1,
  userAgent: "",
  ...changes,
});
const stops = new Map<string, Map<string, number>>();
const verdictOf = (log: RequestLogEntry[]) => demoVerdict({ sites: allSites(), log, delayMs: DELAY_MS, stops });
const violations = (...log: RequestLogEntry[]) => verdictOf(log).violations;
const robots = (host: string) => entry(host, "/robots.txt", 0);

const table: [situation: string, log: RequestLogEntry[], expected: RegExp[]][] = [
  ["patience", [robots("garden"), entry("garden", "/", 201)], []],
  ["a short gap", [robots("garden"), entry("garden", "/", 200)], [/garden\.demo\.test was asked 199\.0 ms after/]],
  [
    "the default gap where a Crawl-delay is owed",
    [robots("slow"), entry("slow", "/", 300)],
    [/299\.0 ms after an answer, not 2000/],
  ],
  [
    "two at once",
    [robots("mirror"), entry("mirror", "/", 300, { endedAt: 900 }), entry("mirror", "/1", 600)],
    [/2 requests at once/],
  ],
  [
    "a page before robots.txt",
    [entry("busy", "/", 0), entry("busy", "/robots.txt", 300)],
    [/busy\.demo\.test\/ was asked for before/],
  ],
  [
    "a forbidden page",
    [robots("rules"), entry("rules", "/private/diary.html", 300)],
    [/diary\.html was asked for, which robots/],
  ],
  [
    "no heed of Retry-After",
    [robots("busy"), entry("busy", "/4.html", 300, { status: 429, retryAfter: "2" }), entry("busy", "/5.html", 1000)],
    [/5\.html was asked for within the time of a Retry-After/],
  ],
];

for (const [situation, log, expected] of table)
  test(`${situation}: ${expected.length === 0 ? "nothing to say" : "said"}`, () => {
    const found = violations(...log);
    assert.equal(found.length, expected.length, found.join("\n"));
    for (const [index, line] of expected.entries()) assert.match(found[index] ?? "", line);
  });

test("a crawl that asked for nothing is polite, and misses what the sites expect", () => {
  const { violations: none, faults } = verdictOf([]);
  assert.deepEqual(none, []);
  assert.ok(faults.includes("garden.demo.test/ was not fetched"));
});

test("a trap that was not stopped by the reasons that are its own is a fault, one that was is told with its pages", () => {
  const reasons = new Map([
    ["path-depth", 1],
    ["repeated-segments", 2],
  ]);
  const log = [
    entry("maze", "/room/", 0),
    entry("maze", "/room/", 300),
    entry("maze", "/level-1/", 600),
    entry("maze", "/", 900),
  ];
  const maze = new Map([["maze.demo.test", reasons]]);
  const { traps, faults } = demoVerdict({ sites: allSites(), log, delayMs: DELAY_MS, stops: maze });
  assert.deepEqual(
    traps.find(({ host }) => host === "maze.demo.test"),
    {
      host: "maze.demo.test",
      pages: 2,
      stops: [
        { reason: "repeated-segments", times: 2 },
        { reason: "path-depth", times: 1 },
        { reason: "relative-growth", times: 0 },
      ],
    },
  );
  const unstopped = faults.filter((line) => line.includes("nothing of it was refused"));
  assert.ok(unstopped.includes("maze.demo.test: nothing of it was refused for relative-growth"));
  assert.ok(!unstopped.some((line) => line.includes("path-depth")));
  assert.ok(unstopped.includes("shop.demo.test: nothing of it was refused for soft-404"));
});
