import assert from "node:assert/strict";
import { test } from "node:test";
import { atHead, type FrontierState, newFrontier } from "../../../core/frontier/state.ts";
import { planTurn, type TurnFacts } from "../../../core/frontier/turn.ts";
import type { RobotsJudgement } from "../../../core/robots/judge.ts";
import { urlIdentity } from "../../../core/url/keys.ts";
import { limits } from "../../../schemas/limits.ts";
import { DAY, facts, flight, host, NOW, PACE_KEY, policy, ready } from "./given.ts";

const NEVER = Number.MAX_SAFE_INTEGER;
const HTTPS = "https://example.org";

/** Nothing outside the queue is due. */
function frontier(change: Partial<FrontierState> = {}): FrontierState {
  return { ...newFrontier(NOW - 1_000), nextDueAt: NEVER, ...change };
}

function turn(state: Partial<FrontierState>, change: Partial<TurnFacts> = {}) {
  return planTurn(frontier(state), facts(change));
}

const out = (leaseId: string, change: object = {}) => ({
  leaseId,
  urlId: `url of ${leaseId}`,
  hostKey: "http://example.org",
  kind: "page" as const,
  settle: false,
  expiresAt: NOW + 40_000,
  ...change,
});
const urls = (count: number) => Array.from({ length: count }, (_, index) => ready(String(index)));
const verdicts = (by: Record<string, RobotsJudgement>) => (hostKey: string) => by[hostKey] ?? ({ verdict: "allow" } as const);

test("one lease at a time: the most urgent URL, as the worker needs it", () => {
  const { grants, state, next } = turn({ ready: urls(3) });
  assert.deepEqual(grants, [
    {
      leaseId: "lease-0",
      urlId: "id-0",
      url: "http://example.org/0",
      version: 0,
      hostKey: "http://example.org",
      paceKey: PACE_KEY,
      kind: "page",
      notBefore: NOW,
      startBy: NOW + 10_000,
      attempt: 0,
      epoch: 4,
    },
  ]);
  assert.deepEqual(
    state.ready.map(({ urlId }) => urlId),
    ["id-1", "id-2"],
  );
  assert.deepEqual(next, { kind: "sleep", until: NOW + 10_000 + 250 + 30_000 + 5_000 });
});

test("no second lease while one is out, nor while another execution is booked at the host (P1)", () => {
  assert.deepEqual(turn({ ready: urls(2), leases: [out("l")] }).grants, []);
  const { grants, next } = turn({ ready: urls(2) }, { host: host({ inFlight: [flight({ expiresAt: NOW + 700 })] }) });
  assert.deepEqual(grants, []);
  assert.deepEqual(next, { kind: "sleep", until: NOW + 700 });
});

test("a URL that another execution has booked is left until that ends, and others go on", () => {
  const booked = { host: host({ inFlight: [flight({ urlId: "id-0", expiresAt: NOW + 700, sendBy: NOW - 5_000 })] }) };
  const { grants, state, next } = turn({ ready: urls(2) }, { ...booked, policy: policy({ concurrency: 3 }) });
  assert.deepEqual(
    grants.map(({ urlId }) => urlId),
    ["id-1"],
  );
  assert.deepEqual(
    state.ready.map(({ urlId }) => urlId),
    ["id-0"],
  );
  assert.deepEqual(next, { kind: "sleep", until: NOW + 700 });
});

test("a lease that is booked already is counted once", () => {
  const booked = {
    host: host({ inFlight: [flight({ leaseId: "l", sendBy: NOW - 5_000 })] }),
    policy: policy({ concurrency: 2 }),
  };
  assert.equal(turn({ ready: urls(2), leases: [out("l")] }, booked).grants.length, 1);
});

test("with more places, leases are staggered by the gap as far ahead as a grant may lead", () => {
  const { grants } = turn({ ready: urls(8) }, { policy: policy({ concurrency: 4, delayMs: 100 }) });
  assert.deepEqual(
    grants.map(({ notBefore }) => notBefore - NOW),
    [0, 100, 200],
  );
});

test("grants never exceed the places", () => {
  for (const places of [1, 2, 5]) {
    const { grants } = turn({ ready: urls(20) }, { policy: policy({ concurrency: places, delayMs: 0 }) });
    assert.equal(grants.length, places);
  }
});

test("before its time a host is granted nothing, and the turn comes as much ahead as a grant may lead", () => {
  const resting = host({ backoffUntil: NOW + 60_000 });
  const { grants, next } = turn({ ready: urls(2) }, { host: resting });
  assert.deepEqual(grants, []);
  assert.deepEqual(next, { kind: "sleep", until: NOW + 60_000 - limits.leaseAheadMs });
  const ahead = turn({ ready: urls(2) }, { host: resting, now: NOW + 60_000 - limits.leaseAheadMs });
  assert.deepEqual(
    ahead.grants.map(({ notBefore }) => notBefore),
    [NOW + 60_000],
  );
});

test("a clock that may be wrong plans as much later as the admit will wait", () => {
  const resting = { host: host({ backoffUntil: NOW + 60_000 }), skewMs: 200 };
  assert.deepEqual(turn({ ready: urls(1) }, resting).next, { kind: "sleep", until: NOW + 60_200 - limits.leaseAheadMs });
});

test("robots.txt first: one lease for it, and no page of its host before it is in (R25)", () => {
  const { grants, state } = turn(
    { ready: urls(3) },
    { judge: () => ({ verdict: "missing" }), policy: policy({ concurrency: 3, delayMs: 0 }) },
  );
  assert.deepEqual(
    grants.map(({ kind, url, urlId, version }) => ({ kind, url, urlId, version })),
    [
      {
        kind: "robots",
        url: "http://example.org/robots.txt",
        urlId: urlIdentity("http://example.org/robots.txt").urlId,
        version: 0,
      },
    ],
  );
  assert.equal(state.ready.length, 3);
  const again = planTurn(
    state,
    facts({ judge: () => ({ verdict: "missing" }), policy: policy({ concurrency: 3, delayMs: 0 }) }),
  );
  assert.deepEqual(again.grants, [], "it is asked for once");
});

test("rules that are there and being asked for anew hold pages back", () => {
  const state = { ready: urls(1), leases: [out("r", { kind: "robots" })] };
  assert.deepEqual(turn(state, { policy: policy({ concurrency: 2, delayMs: 0 }) }).grants, []);
  const elsewhere = { ready: urls(1), leases: [out("r", { kind: "robots", hostKey: HTTPS })] };
  assert.equal(turn(elsewhere, { policy: policy({ concurrency: 2, delayMs: 0 }) }).grants.length, 1);
});

test("http and https share the one place (P7), and what is known of one host key lets its pages go on", () => {
  const mixed = [ready("a", { hostKey: HTTPS }), ready("b")];
  const first = turn({ ready: mixed }, { judge: verdicts({ [HTTPS]: { verdict: "missing" } }) });
  assert.deepEqual(
    first.grants.map(({ url }) => url),
    [`${HTTPS}/robots.txt`],
  );
  const blocked = turn({ ready: mixed }, { judge: verdicts({ [HTTPS]: { verdict: "unreachable", until: NOW + 300_000 } }) });
  assert.deepEqual(
    blocked.grants.map(({ url }) => url),
    ["http://example.org/b"],
  );
  assert.deepEqual(blocked.state.ready, [], "the blocked URL leaves the queue, not the index");
  assert.deepEqual(blocked.state.blocked, [{ hostKey: HTTPS, until: NOW + 300_000 }]);
});

for (const [verdict, judgement] of [
  ["unreachable", { verdict: "unreachable", reason: "timeout", until: NOW + 300_000 }],
  ["deferred", { verdict: "deferred", until: NOW + 300_000 }],
] as const)
  test(`robots.txt ${verdict}: the URLs wait in the index, and the turn comes when it may be asked again`, () => {
    const { grants, state, next } = turn({ ready: urls(2) }, { judge: () => judgement });
    assert.deepEqual(grants, []);
    assert.deepEqual([state.ready.length, state.blocked.length], [0, 1]);
    assert.deepEqual(next, { kind: "sleep", until: NOW + 300_000 });
    const later = planTurn(state, facts({ now: NOW + 300_000 }));
    assert.deepEqual([later.next.kind, later.state.blocked.length, atHead(later.state)], ["refill", 0, true]);
  });

for (const [reason, judgement] of [
  ["robots", { verdict: "disallow" }],
  ["address", { verdict: "unreachable", reason: "address", until: NOW + 300_000 }],
] as const)
  test(`what needs no request (${reason}) is settled without a place, and not without bound`, () => {
    const resting = host({ backoffUntil: NOW + 60_000, inFlight: [flight()] });
    const { grants, state } = turn({ ready: urls(20) }, { judge: () => judgement, host: resting });
    assert.equal(grants.length, limits.settlesOut);
    assert.ok(grants.every((lease) => lease.settle === reason && lease.notBefore === NOW));
    assert.equal(state.ready.length, 20 - limits.settlesOut);
    assert.deepEqual(planTurn(state, facts({ judge: () => judgement })).grants, [], "until reports come");
    const beside = planTurn(state, facts());
    assert.equal(beside.grants.length, 1, "they take no place of a page");
  });

test("a page limit that is reached leaves the URLs, and asks for no robots.txt either", () => {
  const spent = { host: host({ pages: 100 }) };
  const { grants, next } = turn({ ready: urls(2) }, spent);
  assert.deepEqual(grants, []);
  assert.deepEqual(next, { kind: "clear", until: NOW + DAY });
  assert.deepEqual(turn({ ready: urls(2) }, { ...spent, judge: () => ({ verdict: "missing" }) }).grants, []);
  const nearly = { host: host({ pages: 99 }), policy: policy({ concurrency: 3, delayMs: 0 }) };
  assert.equal(turn({ ready: urls(3) }, nearly).grants.length, 1, "leases out count as pages");
});

const away: [situation: string, change: Partial<TurnFacts>, next: object][] = [
  ["mapped elsewhere", { host: host({ movedTo: "example.net" }) }, { kind: "abandon" }],
  ["owned by a newer job", { host: host({ epoch: 5 }) }, { kind: "abandon" }],
  ["paused by policy", { policy: policy({ paused: true }) }, { kind: "abandon" }],
  ["paused for a minute", { host: host({ pausedUntil: NOW + 60_000 }) }, { kind: "sleep", until: NOW + 60_000 }],
  ["paused for two hours", { host: host({ pausedUntil: NOW + 7_200_000 }) }, { kind: "abandon" }],
  ["in back-off for a day", { host: host({ backoffUntil: NOW + DAY }) }, { kind: "clear", until: NOW + DAY - 250 }],
];
for (const [situation, change, next] of away)
  test(`a host that may not be asked: ${situation}`, () => {
    const given = turn({ ready: urls(2) }, change);
    assert.deepEqual(given.grants, []);
    assert.deepEqual(given.next, next);
  });

test("a host with a lease out is never left to the sweep", () => {
  const { next } = turn({ leases: [out("l")], nextDueAt: NOW + 7_200_000 });
  assert.equal(next.kind, "sleep");
});

test("a hold puts off grants, not settles", () => {
  const held = { ready: urls(2), holdUntil: NOW + 5_000 };
  assert.deepEqual(turn(held).grants, []);
  assert.deepEqual(turn(held).next, { kind: "sleep", until: NOW + 5_000 - 250 });
  assert.equal(turn(held, { judge: () => ({ verdict: "disallow" }) }).grants.length, 2);
  assert.equal(turn(held, { now: NOW + 5_000 }).grants.length, 1);
});

test("what is due outside the queue is read when a quarter is left, and before anything is granted", () => {
  const due = { nextDueAt: NOW };
  assert.deepEqual(turn({ ready: [], ...due }).next, { kind: "refill" });
  assert.deepEqual(turn({ ready: urls(16), ...due }).next, { kind: "refill" });
  assert.deepEqual(turn({ ready: urls(16), ...due }).grants, []);
  assert.equal(turn({ ready: urls(18), ...due }).next.kind, "sleep");
  assert.deepEqual(turn({ ready: urls(17), ...due }).next, { kind: "refill" }, "the grant has just left a quarter");
});

test("a long queue sleeps till its next event, however much is due outside it", () => {
  const { next } = turn({ ready: urls(64), nextDueAt: NOW - 5_000 });
  assert.deepEqual(next, { kind: "sleep", until: NOW + 45_250 });
  const soon = turn({ ready: urls(64), nextDueAt: NOW + 3 }, { host: host({ backoffUntil: NOW + 60_000 }) });
  assert.deepEqual(soon.next, { kind: "sleep", until: NOW + 59_750 });
});

test("nothing in the queue: asleep until what is due next, and cleared where that is an hour off", () => {
  assert.deepEqual(turn({ nextDueAt: NOW + 5_000 }).next, { kind: "sleep", until: NOW + 5_000 });
  assert.deepEqual(turn({ nextDueAt: NOW + limits.hostIdleMs - 1 }).next, {
    kind: "sleep",
    until: NOW + limits.hostIdleMs - 1,
  });
  assert.deepEqual(turn({ nextDueAt: NOW + limits.hostIdleMs }).next, { kind: "clear", until: NOW + limits.hostIdleMs });
  assert.deepEqual(turn({}).next, { kind: "clear", until: NOW + DAY });
});

test("a lease without a report is given up when it can no longer run, and its URL is read again", () => {
  const state = { leases: [out("l", { expiresAt: NOW })], cursors: ["a", "b", "c", "d"] };
  const given = turn(state);
  assert.deepEqual(given.state.leases, []);
  assert.deepEqual(given.state.cursors, ["", "", "", ""]);
  assert.deepEqual(given.next, { kind: "refill" });
});

test("the cursors return to the head once an hour", () => {
  const cursors = ["a", "b", "c", "d"];
  const after = (ms: number) => turn({ cursors, cursorsResetAt: NOW - ms }).state.cursors;
  assert.deepEqual(after(limits.cursorResetMs - 1), cursors);
  assert.deepEqual(after(limits.cursorResetMs), ["", "", "", ""]);
});

test("a request that was never heard of ends the host's rest at a known time", () => {
  const { grants, next } = turn({ ready: urls(1) }, { host: host({ inFlight: [flight({ expiresAt: NOW - 1 })] }) });
  assert.deepEqual(grants, []);
  assert.ok(next.kind === "sleep" && next.until >= NOW + 14_000 && next.until <= NOW + 18_750);
});

test("a URL that a policy withholds is settled, and its host's other URLs have their turn", () => {
  const withheld = (_hostKey: string, url: string) => (url.endsWith("/0") ? ("held" as const) : undefined);
  const { grants } = turn({ ready: urls(2) }, { withheld });
  assert.deepEqual(
    grants.map(({ url, settle }) => [url, settle]),
    [
      ["http://example.org/0", "held"],
      ["http://example.org/1", undefined],
    ],
  );
});

test("a host whose day is spent waits for the next one", () => {
  const today = Math.floor(NOW / DAY);
  const spent = host({ day: { day: today, pages: 5, bytes: 0 } });
  const { grants, next } = turn(
    { ready: urls(2) },
    { host: spent, policy: policy({ dayBudget: { pagesPerDay: 5, bytesPerDay: 9 } }) },
  );
  assert.deepEqual(grants, []);
  assert.deepEqual(next, { kind: (today + 1) * DAY >= NOW + limits.hostIdleMs ? "clear" : "sleep", until: (today + 1) * DAY });
});

test("a store that could not take the end of a lease is given none of another, not even of those that need no request", () => {
  const judge = () => ({ verdict: "disallow" }) as const;
  const { grants, next } = turn({ ready: urls(2), storeHoldUntil: NOW + 60_000 }, { judge });
  assert.deepEqual([grants, next], [[], { kind: "sleep", until: NOW + 60_000 }]);
  assert.equal(turn({ ready: urls(2), storeHoldUntil: NOW }, { judge }).grants.length, 2);
});
