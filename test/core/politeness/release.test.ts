import assert from "node:assert/strict";
import { test } from "node:test";
import { asksForRest, connectFailed, forgiven, type RequestEnd, release } from "../../../core/politeness/release.ts";
import { failureReasons } from "../../../schemas/reasons.ts";
import { flight, host, NOW, policy } from "./given.ts";

const booked = flight({ token: "mine", urlId: "url-1" });
const before = host({
  inFlight: [flight({ token: "other" }), booked],
  recent: [{ urlId: "url-1", version: 0, tries: 2 }],
  pages: 5,
  lastAnsweredAt: NOW - 1_500,
  lastSendAt: NOW - 1_700,
  lastEndAt: NOW - 1_400,
});

type Answered = Extract<RequestEnd, { kind: "answered" }>;
function answered(change: Partial<Answered> = {}): Answered {
  return { kind: "answered", status: 200, sentAt: NOW, answeredAt: NOW + 80, endedAt: NOW + 300, bodyBytes: 1_000, ...change };
}

test("a token that is not in flight changes nothing, whatever its end", () => {
  for (const end of [
    answered(),
    answered({ status: 503 }),
    { kind: "failed", reason: "timeout", sentAt: NOW, endedAt: NOW },
    { kind: "unsent" },
  ] as const)
    assert.equal(release(before, policy(), "unknown", end, 0), before);
});

test("an answer: the entry goes, the true times stand, the others stay", () => {
  const after = release(before, policy(), "mine", answered(), 0);
  assert.deepEqual(
    after.inFlight.map(({ token }) => token),
    ["other"],
  );
  const { lastSendAt, lastAnsweredAt, lastEndAt, latencyMs, bodyBytes, pages } = after;
  assert.deepEqual(
    { lastSendAt, lastAnsweredAt, lastEndAt, latencyMs, bodyBytes, pages },
    { lastSendAt: NOW, lastAnsweredAt: NOW + 80, lastEndAt: NOW + 300, latencyMs: 80, bodyBytes: 1_000, pages: 5 },
  );
  assert.deepEqual(release(after, policy(), "mine", answered(), 0), after, "the second release of a token changes nothing");
});

test("times never step back", () => {
  const later = { ...before, lastSendAt: NOW + 9_000, lastAnsweredAt: NOW + 9_000, lastEndAt: NOW + 9_000 };
  const after = release(later, policy(), "mine", answered(), 0);
  assert.equal(after.lastSendAt, NOW + 9_000);
  assert.equal(after.lastAnsweredAt, NOW + 9_000);
  assert.equal(after.lastEndAt, NOW + 9_000);
});

test("a request that never left is undone: neither the page nor the try counts, and the clock stands", () => {
  const after = release(before, policy(), "mine", { kind: "unsent" }, 0);
  assert.deepEqual(after, {
    ...before,
    inFlight: before.inFlight.slice(0, 1),
    pages: 4,
    recent: [{ urlId: "url-1", version: 0, tries: 1 }],
  });
});

test("a try that is forgiven is the one of that URL and version, and never less than none", () => {
  const tries = (record: typeof before) => record.recent.map((entry) => entry.tries);
  assert.deepEqual(tries(forgiven(before, { urlId: "url-1", version: 0 })), [1]);
  assert.deepEqual(tries(forgiven(before, { urlId: "url-1", version: 1 })), [2]);
  assert.deepEqual(tries(forgiven(before, { urlId: "url-2", version: 0 })), [2]);
  const none = { ...before, recent: [{ urlId: "url-1", version: 0, tries: 0 }] };
  assert.deepEqual(tries(forgiven(none, { urlId: "url-1", version: 0 })), [0]);
});

test("robots.txt that never left gives no page back", () => {
  const robots = { ...before, inFlight: [flight({ token: "mine", kind: "robots" })] };
  assert.equal(release(robots, policy(), "mine", { kind: "unsent" }, 0).pages, 5);
});

for (const reason of failureReasons)
  test(`sent, then ${reason}: the end stands for the answer, and the host is left alone`, () => {
    const after = release(before, policy(), "mine", { kind: "failed", reason, sentAt: NOW, endedAt: NOW + 30_000 }, 0);
    assert.equal(after.lastAnsweredAt, NOW + 30_000);
    assert.equal(after.backoffUntil, NOW + 45_000);
    assert.equal(after.backoffReason, reason);
    assert.equal(after.backoffLevel, 1);
  });

const DAY = 86_400_000;
const rests: [situation: string, change: Partial<Answered>, level: number, waitMs: number][] = [
  ["429 without Retry-After", { status: 429 }, 0, 15_000],
  ["500", { status: 500 }, 0, 15_000],
  ["503", { status: 503 }, 0, 15_000],
  ["503 for the third time", { status: 503 }, 2, 60_000],
  ["503 for the twentieth time", { status: 503 }, 13, DAY],
  ["429 with a longer Retry-After (P13)", { status: 429, retryAfterMs: 90_000 }, 0, 90_000],
  ["429 with a shorter Retry-After: it said so", { status: 429, retryAfterMs: 2_000 }, 3, 2_000],
  ["301 with Retry-After", { status: 301, retryAfterMs: 90_000 }, 0, 90_000],
  ["404 with Retry-After", { status: 404, retryAfterMs: 90_000 }, 0, 90_000],
];
for (const [situation, change, backoffLevel, waitMs] of rests)
  test(`the host is left alone: ${situation}`, () => {
    const after = release({ ...before, backoffLevel }, policy(), "mine", answered(change), 0);
    assert.equal(after.backoffUntil, NOW + 80 + waitMs);
  });

test("Retry-After on a 200 means nothing", () => {
  assert.equal(release(before, policy(), "mine", answered({ retryAfterMs: 90_000 }), 0).backoffUntil, 0);
});

test("a longer rest that was promised before stands (P11)", () => {
  const resting = { ...before, backoffUntil: NOW + DAY };
  for (const change of [{}, { status: 503 }, { status: 429, retryAfterMs: 5 }])
    assert.equal(release(resting, policy(), "mine", answered(change), 0).backoffUntil, NOW + DAY);
});

test("an answer without trouble begins the doubling anew; 304, 404 and a redirect are such", () => {
  for (const status of [200, 304, 301, 404])
    assert.equal(release({ ...before, backoffLevel: 4 }, policy(), "mine", answered({ status }), 0).backoffLevel, 0);
  for (const status of [429, 500, 503])
    assert.equal(release({ ...before, backoffLevel: 4 }, policy(), "mine", answered({ status }), 0).backoffLevel, 5);
});

test("the back-off is spread by at most a quarter, and never over a server's own word", () => {
  const wait = (spread: number, change: Partial<Answered>) =>
    release(before, policy(), "mine", answered({ status: 503, ...change }), spread).backoffUntil - (NOW + 80);
  assert.deepEqual(
    [0, 0.5, 1].map((spread) => wait(spread, {})),
    [15_000, 16_875, 18_750],
  );
  assert.equal(wait(1, { retryAfterMs: 7_000 }), 7_000);
});

test("429 and 5xx ask for rest", () => {
  assert.deepEqual([200, 304, 404, 428, 429, 430, 499, 500, 503, 599].filter(asksForRest), [429, 500, 503, 599]);
});

test("the latency is smoothed, the first one taken as it is", () => {
  const first = release(before, policy(), "mine", answered({ answeredAt: NOW + 400 }), 0);
  assert.equal(first.latencyMs, 400);
  const second = release({ ...before, latencyMs: 400 }, policy(), "mine", answered({ answeredAt: NOW + 800 }), 0);
  assert.equal(second.latencyMs, 500);
});

test("the smallest gap is kept with what was owed then", () => {
  const crawlDelayed = { ...before, crawlDelayMs: 1_200 };
  const first = release(crawlDelayed, policy(), "mine", answered(), 0);
  assert.deepEqual(first.smallestGap, { gapMs: 1_500, allowedMs: 1_200 });
  const smaller = { ...crawlDelayed, smallestGap: { gapMs: 1_300, allowedMs: 1_000 } };
  assert.deepEqual(release(smaller, policy(), "mine", answered(), 0).smallestGap, { gapMs: 1_300, allowedMs: 1_000 });
  assert.equal(release({ ...before, lastAnsweredAt: 0 }, policy(), "mine", answered(), 0).smallestGap, undefined);
  const several = release(before, policy({ concurrency: 2 }), "mine", answered(), 0);
  assert.deepEqual(several.smallestGap, { gapMs: 1_700, allowedMs: 1_000 }, "from start to start");
});

test("a connection that could not be made rests the host like an answer not given; those under way stay", () => {
  const after = connectFailed(before, "connect", NOW + 10, 0);
  assert.deepEqual(after.inFlight, before.inFlight);
  assert.equal(after.lastAnsweredAt, NOW + 10);
  assert.equal(after.lastEndAt, NOW + 10);
  assert.equal(after.lastSendAt, before.lastSendAt);
  assert.equal(after.backoffUntil, NOW + 15_010);
  assert.equal(after.backoffReason, "connect");
  assert.equal(connectFailed(after, "connect", NOW + 15_010, 0).backoffUntil, NOW + 45_010);
});

test("bytes count for the day on which they came, and a request that never left gives its page back", () => {
  const day = { day: Math.floor(NOW / 86_400_000), pages: 2, bytes: 10 };
  const booked = host({ inFlight: [flight({ token: "t", admittedAt: NOW })], pages: 2, day });
  const end = { kind: "answered", status: 200, sentAt: NOW, answeredAt: NOW + 5, endedAt: NOW + 9, bodyBytes: 90 } as const;
  assert.deepEqual(release(booked, policy(), "t", end, 0).day, { ...day, bytes: 100 });
  assert.deepEqual(release(booked, policy(), "t", { kind: "unsent" }, 0).day, { ...day, pages: 1 });
});
