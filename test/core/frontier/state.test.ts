import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  atHead,
  type FrontierState,
  frontierState,
  hear,
  leaseExpiry,
  newFrontier,
  rewound,
} from "../../../core/frontier/state.ts";
import { decode, encode } from "../../../schemas/codec.ts";
import { limits } from "../../../schemas/limits.ts";
import type { HostMessage, Report } from "../../../schemas/messages.ts";
import { unfetchedReasons } from "../../../schemas/reasons.ts";
import { NOW, PACE_KEY, ready } from "./given.ts";

const NEVER = Number.MAX_SAFE_INTEGER;
const wake = (at: number): HostMessage => ({ kind: "wake", paceKey: PACE_KEY, at });
const report = (change: Partial<Report> = {}): Report => ({
  kind: "report",
  paceKey: PACE_KEY,
  leaseId: "l",
  urlId: "u",
  hostKey: "http://example.org",
  fetched: true,
  result: "fetched",
  at: NOW,
  ...change,
});
const leased: FrontierState = {
  ...newFrontier(NOW - 9_000),
  cursors: ["a", "b", "c", "d"],
  nextDueAt: NEVER,
  turnAt: NOW + 40_000,
  leases: [{ leaseId: "l", urlId: "u", hostKey: "http://example.org", kind: "page", settle: false, expiresAt: NOW + 40_000 }],
};

const wakes: [situation: string, turnAt: number, at: number, leases: number, turn: boolean][] = [
  ["no turn is known", 0, NOW, 0, true],
  ["the known turn is over", NOW - 1, NOW, 0, true],
  ["the known turn is now", NOW, NOW, 0, true],
  ["a turn lies a second ahead: it will see it", NOW + 1_000, NOW, 0, false],
  ["a turn lies far ahead: it is brought forward", NOW + 60_000, NOW, 0, true],
  ["a turn lies far ahead, and a report will bring one", NOW + 60_000, NOW, 1, false],
  ["a turn lies not far behind the time of the wake", NOW + 60_000, NOW + 59_000, 0, false],
];
for (const [situation, turnAt, at, leases, turn] of wakes)
  test(`a wake: ${situation}`, () => {
    const heard = hear({ ...leased, turnAt, leases: leased.leases.slice(0, leases) }, wake(at), NOW);
    assert.equal(heard.turn, turn);
    assert.equal(heard.state.nextDueAt, at, "what is due is remembered in any case");
  });

test("wakes keep the earliest time that is due", () => {
  const state = hear(hear(leased, wake(NOW + 5), NOW).state, wake(NOW + 9), NOW).state;
  assert.equal(state.nextDueAt, NOW + 5);
});

for (const result of ["fetched", "gone", "throttled", "failed"])
  test(`a report of a request (${result}): the lease is back, the cursors stay, a turn is taken`, () => {
    const { state, turn } = hear(leased, report({ result, nextDueAt: NOW + 70 }), NOW);
    assert.equal(turn, true);
    assert.deepEqual(state, { ...leased, leases: [], nextDueAt: NOW + 70 });
  });

for (const result of ["robots", "address", "poisoned", "stale"])
  test(`a report of what needed no request (${result}): the cursors stay`, () => {
    assert.deepEqual(hear(leased, report({ fetched: false, result }), NOW).state.cursors, leased.cursors);
  });

const holds: Record<string, number> = {
  "page-limit": 60_000,
  shutdown: 60_000,
  store: 60_000,
  contention: 100,
  duplicate: 1_000,
  epoch: 60_000,
  concurrency: 100,
  unsent: 100,
  late: 100,
};
for (const result of unfetchedReasons.filter((reason) => reason !== "stale"))
  test(`a lease that came back unfetched (${result}): its URL is read again from the head`, () => {
    const { state, turn } = hear(leased, report({ fetched: false, result }), NOW);
    assert.equal(turn, true);
    assert.ok(atHead(state));
    assert.equal(state.nextDueAt, 0);
    assert.equal(state.holdUntil, holds[result] === undefined ? undefined : NOW + holds[result]);
  });

test("a store that failed holds all that it would have to take", () => {
  assert.equal(hear(leased, report({ fetched: false, result: "store" }), NOW).state.storeHoldUntil, NOW + 60_000);
  assert.equal(hear(leased, report({ fetched: false, result: "page-limit" }), NOW).state.storeHoldUntil, undefined);
});

test("a report that comes twice brings no turn and changes nothing", () => {
  const once = hear(leased, report(), NOW).state;
  assert.deepEqual(hear(once, report(), NOW), { state: once, turn: false });
  assert.deepEqual(hear(once, report({ fetched: false, result: "late" }), NOW), { state: once, turn: false });
});

test("the report of a lease that was given up still tells when its URL is due again", () => {
  const given = { ...leased, leases: [] };
  const { state, turn } = hear(given, report({ nextDueAt: NOW + 60_000 }), NOW);
  assert.equal(turn, true);
  assert.equal(state.nextDueAt, NOW + 60_000);
  assert.deepEqual(state.cursors, given.cursors);
});

test("a result that is the name of an object's method is no known result", () => {
  for (const result of ["constructor", "toString", "__proto__"])
    assert.equal(hear(leased, report({ fetched: false, result }), NOW).state.holdUntil, undefined);
});

test("a frontier rewound knows that it must scan", () => {
  const state = rewound(leased, NOW);
  assert.ok(atHead(state) && !atHead(leased));
  assert.deepEqual([state.nextDueAt, state.cursorsResetAt], [0, NOW]);
});

test("a lease is given up when its entry at the host is gone", () => {
  assert.equal(leaseExpiry(NOW, 30_000), NOW + 35_250);
});

const uint = fc.oneof(fc.nat(), fc.constantFrom(0, NOW, NEVER));
const states: fc.Arbitrary<FrontierState> = fc
  .record({
    ready: fc.array(
      fc.record({
        urlId: fc.string(),
        url: fc.webUrl(),
        hostKey: fc.string(),
        kind: fc.constantFrom("page" as const, "sitemap" as const),
        version: uint,
        priority: uint,
        dueAt: uint,
        attempt: uint,
      }),
      { maxLength: 4 },
    ),
    cursors: fc.array(fc.string(), { minLength: 4, maxLength: 4 }),
    cursorsResetAt: uint,
    leases: fc.array(
      fc.record({
        leaseId: fc.string(),
        urlId: fc.string(),
        hostKey: fc.string(),
        kind: fc.constantFrom("page" as const, "robots" as const, "sitemap" as const),
        settle: fc.boolean(),
        expiresAt: uint,
      }),
      { maxLength: 3 },
    ),
    nextDueAt: uint,
    turnAt: uint,
    blocked: fc.array(fc.record({ hostKey: fc.string(), until: uint }), { maxLength: 3 }),
    holdUntil: fc.option(uint, { nil: undefined }),
  })
  .map(({ holdUntil, ...state }) => structuredClone(holdUntil === undefined ? state : { ...state, holdUntil }));

test("every state comes back from its bytes", () => {
  fc.assert(fc.property(states, (state) => assert.deepEqual(decode(frontierState, encode(frontierState, state)), state)));
  const full = { ...leased, ready: Array.from({ length: 64 }, (_, at) => ready(String(at))) };
  assert.ok(encode(frontierState, full).length < 8_192, "64 URLs of a host fit in 8 KiB");
});

test("a frontier that knows nothing stands at the head", () => {
  assert.ok(atHead(newFrontier(NOW)));
  assert.equal(frontierState.fault(newFrontier(NOW), ""), undefined);
});

const chances: [situation: string, change: Partial<Report>, state: Partial<FrontierState>, turnAt: number | undefined][] = [
  ["the host's clock is a second away: the turn waits for it", {}, {}, NOW + 1_000 - limits.leaseAheadMs],
  ["nothing was sent, so the clock is not what holds", { fetched: false, result: "late" }, {}, undefined],
  ["another lease is out", {}, { leases: [{ ...leased.leases[0]!, leaseId: "other" }, ...leased.leases] }, undefined],
  ["nothing is ready: a refill may find what to do", {}, { ready: [] }, undefined],
  ["the clock allows a start now", { nextStartAt: NOW }, {}, undefined],
  ["the clock is more than an hour away", { nextStartAt: NOW + 2 * limits.hostIdleMs }, {}, undefined],
];
for (const [situation, change, state, turnAt] of chances)
  test(`a report that tells when the host may be asked again: ${situation}`, () => {
    const given = { ...leased, ready: [ready("a")], ...state };
    const heard = hear(given, report({ nextStartAt: NOW + 1_000, ...change }), NOW);
    assert.equal(heard.turnAt, turnAt);
    assert.equal(heard.turn, turnAt === undefined);
    assert.equal(heard.state.leases.length, given.leases.length - 1);
  });
