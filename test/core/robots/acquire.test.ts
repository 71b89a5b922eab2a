// Does every answer to a request for robots.txt, in every state, lead where RFC 9309 2.3.1 wants, and to disallow where it leaves a choice?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { acquireRobots, type RobotsAnswer, robotsRequestHeaders, robotsUrl } from "../../../core/robots/acquire.ts";
import type { RobotsResponse } from "../../../core/robots/answer.ts";
import { judgeRobots } from "../../../core/robots/judge.ts";
import { parseRobots } from "../../../core/robots/parse.ts";
import { decode, encode } from "../../../schemas/codec.ts";
import { limits } from "../../../schemas/limits.ts";
import { bodyEnds, failureReasons } from "../../../schemas/reasons.ts";
import { type RobotsState, robotsState, robotsStatuses } from "../../../schemas/robots-state.ts";

const NOW = 1_800_000_000_000;
const DAY = 24 * 3_600_000;
const ORIGIN = "https://h.example/robots.txt";
const BODY = Buffer.from("User-agent: *\nDisallow: /p\n");

const response = (status: number, more: Partial<RobotsResponse> = {}): RobotsResponse => ({
  kind: "response",
  url: ORIGIN,
  status,
  ...more,
});
const after = (before: RobotsState | undefined, answer: RobotsAnswer, now = NOW, jitter = 0) =>
  acquireRobots(before, answer, now, jitter).state;
const verdict = (state: RobotsState, path: string, now: number) =>
  judgeRobots(state, state.body && parseRobots(state.body, "OurBot"), `https://h.example${path}`, now).verdict;

const fresh = after(undefined, response(200, { body: BODY, etag: '"1"', lastModified: "x" }));
const befores: [string, RobotsState | undefined][] = [
  ["none", undefined],
  ["rules", { ...fresh, crawlDelayMs: 3000 }],
  ["allow-all", after(undefined, response(404))],
  ["unreachable", after(fresh, response(500))],
  ["deferred", after(fresh, response(429))],
  ["redirecting", after(fresh, response(302, { location: "/r" }))],
];

test("all states stand in the table", () => {
  const named = befores.slice(1).map(([name]) => name);
  const stood = befores.slice(1).map(([, state]) => state?.status);
  assert.deepEqual([named, stood], [[...robotsStatuses], [...robotsStatuses]]);
});

test("every status, in every state, leads to one state", () => {
  const rows: [from: number, to: number, status: RobotsState["status"]][] = [
    [100, 199, "unreachable"],
    [200, 299, "rules"],
    [300, 300, "unreachable"],
    [301, 303, "redirecting"],
    [305, 306, "unreachable"],
    [307, 308, "redirecting"],
    [309, 399, "unreachable"],
    [400, 428, "allow-all"],
    [429, 429, "deferred"],
    [430, 499, "allow-all"],
    [500, 599, "unreachable"],
    [600, 999, "unreachable"],
  ];
  for (const [name, before] of befores) {
    for (const [from, to, expected] of rows) {
      for (let status = from; status <= to; status++) {
        const state = after(before, response(status, { body: BODY, location: "/r" }));
        assert.equal(state.status, expected, `${status} after ${name}`);
        assert.equal(state.httpStatus, status, `${status} after ${name}`);
      }
    }
  }
});

test("every failure, in every state, is complete disallow (R1)", () => {
  for (const [name, before] of befores) {
    for (const reason of [...failureReasons, ...bodyEnds]) {
      const state = after(before, { kind: "failure", reason });
      assert.deepEqual([state.status, state.reason], ["unreachable", reason], `${reason} after ${name}`);
      assert.equal(verdict(state, "/q", NOW + 1), "unreachable");
    }
  }
});

test("rules count for a day, less where the server says so, never less than an hour", () => {
  const rows: [maxAgeMs: number | undefined, expected: number][] = [
    [undefined, DAY],
    [2 * DAY, DAY],
    [2 * 3_600_000, 2 * 3_600_000],
    [0, 3_600_000],
    [-1, DAY],
    [Number.NaN, DAY],
  ];
  for (const [maxAgeMs, expected] of rows) {
    const state = after(undefined, response(200, { body: BODY, ...(maxAgeMs !== undefined && { maxAgeMs }) }));
    assert.equal(state.expiresAt - NOW, expected, `max-age ${maxAgeMs}`);
  }
  assert.equal(verdict(fresh, "/p", NOW + DAY - 1), "disallow");
  assert.equal(verdict(fresh, "/p", NOW + DAY), "missing");
});

test("a body beyond the limit is cut at it, an empty one allows, one not given forbids", () => {
  assert.equal(
    after(undefined, response(200, { body: Buffer.alloc(limits.robotsBytes + 7, "\n") })).body?.length,
    limits.robotsBytes,
  );
  assert.equal(verdict(after(undefined, response(200, { body: new Uint8Array() })), "/p", NOW), "allow");
  assert.equal(verdict(after(undefined, response(204)), "/p", NOW), "allow");
  assert.deepEqual(after(undefined, response(200)).reason, "no-body");
});

test("304 keeps the body and renews it, also when the host was unreachable meanwhile", () => {
  for (const before of [fresh, after(fresh, response(503)), after(fresh, response(429))]) {
    assert.deepEqual(robotsRequestHeaders(before), { "if-none-match": '"1"', "if-modified-since": "x" });
    const state = after({ ...before, crawlDelayMs: 3000 }, response(304, { etag: '"2"' }), NOW + DAY);
    assert.deepEqual(state, {
      ...fresh,
      httpStatus: 304,
      crawlDelayMs: 3000,
      etag: '"2"',
      fetchedAt: NOW + DAY,
      expiresAt: NOW + 2 * DAY,
    });
  }
});

test("304 to a plain request is no permission", () => {
  for (const before of [undefined, after(undefined, response(404)), after(undefined, response(200, { body: BODY }))]) {
    assert.deepEqual(robotsRequestHeaders(before), {});
    assert.equal(after(before, response(304)).reason, "not-modified");
  }
});

test("429 defers as long as it asks, then by doubling, and opens nothing (R27)", () => {
  const asked = after(fresh, response(429, { retryAfterMs: 90_000 }));
  assert.equal(asked.expiresAt, NOW + 90_000);
  assert.equal(verdict(asked, "/q", NOW + 89_999), "deferred");
  const again = after(after(undefined, response(429)), response(429));
  assert.equal(again.expiresAt, NOW + 2 * limits.robotsUnreachableRetryMs);
  const healed = after(again, response(200, { body: BODY }));
  assert.deepEqual([healed.failures, verdict(healed, "/p", NOW), verdict(healed, "/q", NOW)], [undefined, "disallow", "allow"]);
});

test("while unreachable retries double up to the cache's time, and thirty days open nothing", () => {
  let state: RobotsState | undefined;
  let now = NOW;
  const waits: number[] = [];
  while (now < NOW + 40 * DAY) {
    state = after(state, waits.length % 2 === 0 ? response(503) : { kind: "failure", reason: "connect" }, now, 1);
    waits.push(state.expiresAt - now);
    assert.equal(verdict(state, "/q", state.expiresAt - 1), "unreachable");
    now = state.expiresAt;
  }
  const first = limits.robotsUnreachableRetryMs * 1.25;
  assert.deepEqual(waits.slice(0, 4), [first, 2 * first, 4 * first, 8 * first]);
  assert.equal(Math.max(...waits), limits.robotsCacheMs);
  assert.equal(state?.unreachableSince, NOW);
  assert.equal(after(state, response(503, { retryAfterMs: 3 * DAY }), now).expiresAt, now + 3 * DAY);
  assert.equal(after(undefined, response(503, { retryAfterMs: 1 })).expiresAt, NOW + limits.robotsUnreachableRetryMs);
});

test("unreachable hosts that failed together come back apart", () => {
  const times = [0, 0.5, 0.999].map((jitter) => after(undefined, response(500), NOW, jitter).expiresAt);
  assert.equal(new Set(times).size, times.length);
});

test("five redirects are followed, over authorities, and the rules count for the first host", () => {
  let state: RobotsState | undefined = fresh;
  let url = ORIGIN;
  for (let hop = 1; hop <= limits.robotsHops; hop++) {
    const step = acquireRobots(state, response(301, { url, location: `//h${hop}.example:81/robots.txt#x` }), NOW, 0);
    assert.equal(step.next, `https://h${hop}.example:81/robots.txt`);
    assert.deepEqual([step.state.target, step.state.hop, step.state.expiresAt], [step.next, hop, NOW]);
    assert.deepEqual(robotsRequestHeaders(step.state), {}, "the origin's validators are not the target's");
    ({ state } = step);
    url = step.next;
  }
  const found = after(state, response(200, { url, body: BODY, etag: '"t"' }));
  assert.deepEqual([found.status, found.target, verdict(found, "/p", NOW)], ["rules", url, "disallow"]);
  assert.deepEqual(robotsRequestHeaders(found), {}, "nor are the target's the origin's");
  const sixth = acquireRobots(state, response(301, { url, location: "/once-more" }), NOW, 0);
  assert.deepEqual([sixth.next, sixth.state.status, sixth.state.reason], [undefined, "unreachable", "redirect-hops"]);
  assert.deepEqual(robotsRequestHeaders(after(found, response(500))), {});
});

test("a redirect to nowhere, or to a refused address, is no permission (R3)", () => {
  const rows: [location: string | undefined, reason: string][] = [
    [undefined, "redirect-location"],
    ["http://", "redirect-location"],
    [`/${"x".repeat(limits.urlLength)}`, "redirect-location"],
    ["ftp://h.example/robots.txt", "redirect-scheme"],
    ["javascript:alert(1)", "redirect-scheme"],
  ];
  for (const [location, reason] of rows) {
    const step = acquireRobots(undefined, response(302, location === undefined ? {} : { location }), NOW, 0);
    assert.deepEqual([step.next, step.state.status, step.state.reason], [undefined, "unreachable", reason]);
  }
  const hop = after(undefined, response(302, { location: "http://169.254.169.254/x" }));
  const refused = after(hop, { kind: "failure", reason: "address" });
  assert.deepEqual([refused.status, refused.reason, refused.target], ["unreachable", "address", undefined]);
});

test("a hop that its clock puts off stands where it stood, neither allowed nor unreachable", () => {
  for (const [name, before] of befores) {
    const state = after(before, { kind: "put-off", target: "https://b.example/r", hop: 3, until: NOW + 4000 });
    assert.deepEqual(
      [state.status, state.target, state.hop, state.expiresAt],
      ["redirecting", "https://b.example/r", 3, NOW + 4000],
      name,
    );
    assert.deepEqual([state.failures, state.unreachableSince], [before?.failures, before?.unreachableSince], name);
    assert.equal(verdict(state, "/q", NOW + 3999), "deferred");
    assert.equal(acquireRobots(state, response(302, { location: "/s", url: "https://b.example/r" }), NOW, 0).state.hop, 4);
  }
  assert.equal(after(undefined, { kind: "put-off", target: "https://b.example/r", hop: 1, until: NOW - 5 }).expiresAt, NOW);
  assert.equal(
    after(undefined, { kind: "put-off", target: "https://b.example/r", hop: 1, until: Infinity }).expiresAt,
    NOW + limits.retryAfterMsMax,
  );
  assert.equal(
    after(undefined, { kind: "put-off", target: "https://b.example/r", hop: 6, until: NOW }).reason,
    "redirect-hops",
  );
});

test("whatever comes in whatever order, the state is a record, and pages are open only after a 2xx, 304 or 4xx", () => {
  const answers: fc.Arbitrary<RobotsAnswer> = fc.oneof(
    fc.record({
      kind: fc.constant("response" as const),
      url: fc.constant(ORIGIN),
      status: fc.constantFrom(200, 204, 301, 302, 304, 404, 429, 500, 503),
      body: fc.uint8Array({ maxLength: 40 }),
      location: fc.oneof(fc.string(), fc.webUrl()),
      etag: fc.string(),
      retryAfterMs: fc.double(),
      maxAgeMs: fc.double(),
    }),
    fc.record({ kind: fc.constant("failure" as const), reason: fc.constantFrom(...failureReasons) }),
    fc.record({
      kind: fc.constant("put-off" as const),
      target: fc.oneof(fc.string(), fc.webUrl()),
      hop: fc.nat(7),
      until: fc.double(),
    }),
  );
  fc.assert(
    fc.property(fc.array(answers, { maxLength: 12 }), fc.double(), (list, jitter) => {
      let state: RobotsState | undefined;
      for (const answer of list) {
        state = acquireRobots(state, answer, NOW, jitter).state;
        assert.deepEqual(
          decode(robotsState, encode(robotsState, state)),
          decode(robotsState, encode(robotsState, structuredClone(state))),
        );
        assert.equal(robotsState.fault(state, ""), undefined);
        assert.ok(state.expiresAt >= NOW);
        const opens = answer.kind === "response" && [200, 204, 304, 404].includes(answer.status);
        if (!opens) assert.notEqual(verdict(state, "/robots.txt", NOW), "allow");
      }
    }),
  );
});

test("robots.txt is asked of the very authority, port and all (R21)", () => {
  assert.equal(robotsUrl("https://h.example:8443"), "https://h.example:8443/robots.txt");
  assert.equal(robotsUrl("http://h.example"), "http://h.example/robots.txt");
});
