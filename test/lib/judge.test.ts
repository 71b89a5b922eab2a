import assert from "node:assert/strict";
import { test } from "node:test";
import { beforeRetryAfter, beforeRobots, concurrencyMax, disallowedRequests, repeated, smallestGapMs } from "./judge.ts";
import type { RequestLogEntry } from "./web-server.ts";

const HOST = "a.test";

/** An entry from [start, first byte, end] in ms and a path. */
function entry(path: string, [startedAt, answeredAt, endedAt]: number[], more: Partial<RequestLogEntry> = {}): RequestLogEntry {
  const times = { ...(answeredAt === undefined ? {} : { answeredAt }), ...(endedAt === undefined ? {} : { endedAt }) };
  return {
    startedAt: startedAt!,
    ...times,
    host: HOST,
    method: "GET",
    path,
    status: 200,
    concurrent: 1,
    userAgent: "",
    ...more,
  };
}
const paths = (entries: readonly RequestLogEntry[]) => entries.map(({ path }) => path);

test("gaps are the smallest of the host, whatever the order of the log and the other hosts", () => {
  const log = [
    entry("/c", [3000, 3100, 3200]),
    entry("/a", [0, 100, 400]),
    entry("/other", [1, 2, 3], { host: "b.test" }),
    entry("/b", [1400, 1450, 1500]),
  ];
  assert.deepEqual(smallestGapMs(log, HOST), { answerToStart: 1300, endToStart: 1000, startToStart: 1400 });
});

test("a request that comes too early shows as the smallest gap", () => {
  const polite = [0, 1100, 2200, 3300].map((at) => entry("/", [at, at + 10, at + 20]));
  assert.equal(smallestGapMs(polite, HOST).answerToStart, 1090);
  assert.equal(smallestGapMs([...polite, entry("/early", [3400, 3401, 3402])], HOST).answerToStart, 90);
});

test("a request that got no answer counts from its end, an open one makes the next overlap", () => {
  assert.equal(
    smallestGapMs([{ ...entry("/cut", [0]), endedAt: 500 }, entry("/next", [900, 901, 902])], HOST).answerToStart,
    400,
  );
  assert.equal(smallestGapMs([entry("/open", [0]), entry("/next", [900, 901, 902])], HOST).answerToStart, -Infinity);
});

test("fewer than two requests have no gap", () => {
  assert.equal(smallestGapMs([entry("/", [0, 1, 2])], HOST).answerToStart, Infinity);
});

test("overlapping requests are counted as concurrent, touching ones are not", () => {
  assert.equal(concurrencyMax([entry("/a", [0, 5, 10]), entry("/b", [10, 15, 20])], HOST), 1);
  assert.equal(concurrencyMax([entry("/a", [0, 5, 10]), entry("/b", [9, 15, 20])], HOST), 2);
  assert.equal(concurrencyMax([entry("/a", [0]), entry("/b", [50, 60, 70]), entry("/c", [65, 66, 67])], HOST), 3);
  assert.equal(concurrencyMax([], HOST), 0);
});

test("a page asked for before robots.txt was answered is found", () => {
  const robots = entry("/robots.txt", [0, 100, 110]);
  assert.deepEqual(paths(beforeRobots([robots, entry("/late", [101, 102, 103])], HOST)), []);
  assert.deepEqual(paths(beforeRobots([robots, entry("/early", [50, 60, 70])], HOST)), ["/early"]);
  assert.deepEqual(paths(beforeRobots([entry("/never-asked", [50, 60, 70])], HOST)), ["/never-asked"]);
  assert.deepEqual(paths(beforeRobots([entry("/robots.txt", [0]), entry("/unanswered", [50, 60, 70])], HOST)), ["/unanswered"]);
});

const RULES = `
User-agent: *
Disallow: /

user-agent: Gleaner # ours
User-agent: other
Allow: /private/open
Disallow: /private
Disallow:
`;

const judged: [path: string, forbidden: boolean][] = [
  ["/", false],
  ["/private", true],
  ["/private/x", true],
  ["/private/open", false],
  ["/robots.txt", false],
];
for (const [path, forbidden] of judged)
  test(`${path} is ${forbidden ? "found" : "passed"} by the robots judge`, () => {
    assert.equal(disallowedRequests([entry(path, [0, 1, 2])], HOST, RULES).length, forbidden ? 1 : 0);
  });

test("the group for all holds where none names the agent", () => {
  assert.deepEqual(paths(disallowedRequests([entry("/x", [0, 1, 2])], HOST, RULES, "stranger")), ["/x"]);
});

test("a rule that the judge cannot read is refused", () => {
  assert.throws(() => disallowedRequests([], HOST, "user-agent: *\ndisallow: /*.pdf$"), /plain prefixes/);
});

test("a page answered twice is found, a failed try and robots.txt are not", () => {
  const log = [
    entry("/robots.txt", [0, 1, 2]),
    entry("/robots.txt", [3, 4, 5]),
    entry("/a", [6, 7, 8], { status: 429 }),
    entry("/a", [9, 10, 11]),
    entry("/b", [12, 13, 14]),
    entry("/b", [15, 16, 17], { status: 304 }),
    entry("/b", [18, 19, 20], { host: "b.test" }),
  ];
  assert.deepEqual(repeated(log), [{ host: HOST, method: "GET", path: "/b", times: 2 }]);
});

test("a request inside the time of a Retry-After is found, at its end it is not", () => {
  const busy = entry("/busy", [0, 10, 20], { status: 429, retryAfter: "2" });
  assert.deepEqual(paths(beforeRetryAfter([busy, entry("/early", [2009, 2010, 2011])], HOST)), ["/early"]);
  assert.deepEqual(paths(beforeRetryAfter([busy, entry("/kept", [2010, 2011, 2012])], HOST)), []);
});
