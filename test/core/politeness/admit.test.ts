import assert from "node:assert/strict";
import { test } from "node:test";
import { type Admission, type AdmitRequest, admit } from "../../../core/politeness/admit.ts";
import type { PacePolicy } from "../../../core/politeness/policy.ts";
import type { HostState } from "../../../schemas/host-state.ts";
import { limits } from "../../../schemas/limits.ts";
import { flight, host, lease, NOW, policy, request } from "./given.ts";

const tried = (tries: number, version = 0) => [{ urlId: "url-1", version, tries }];
const robotsFlight = flight({ kind: "robots", urlId: "robots", expiresAt: NOW + 9_000 });

interface Case {
  situation: string;
  host?: Partial<HostState>;
  request?: Partial<AdmitRequest>;
  policy?: Partial<PacePolicy>;
  /** What comes of it: a refusal, its `until`, or a settlement. */
  gives: [reason: string, until?: number];
}

/** In the order in which they are judged: each case is also true of all that stand below it, see the last test of this table. */
const refusals: Case[] = [
  { situation: "the pace key was mapped elsewhere", host: { movedTo: "example.net" }, gives: ["moved"] },
  { situation: "a newer job owns the host", host: { epoch: 2 }, gives: ["epoch"] },
  { situation: "a policy pauses the host", policy: { paused: true }, gives: ["paused"] },
  { situation: "the host is paused for a time", host: { pausedUntil: NOW + 5 }, gives: ["paused", NOW + 5] },
  {
    situation: "the same lease stands under another token",
    host: { inFlight: [flight({ leaseId: "lease-1" })] },
    gives: ["duplicate", NOW + 35_150],
  },
  {
    situation: "the same URL stands under another lease (F15)",
    host: { inFlight: [flight({ urlId: "url-1" })] },
    gives: ["duplicate", NOW + 35_150],
  },
  {
    situation: "robots.txt of the host key is on its way (R25)",
    host: { inFlight: [robotsFlight] },
    policy: { concurrency: 2 },
    gives: ["robots-pending", NOW + 9_000],
  },
  { situation: "nothing is known of robots.txt", request: { robots: undefined }, gives: ["robots-missing"] },
  { situation: "robots rules expired", request: { robots: { verdict: "missing" } }, gives: ["robots-missing"] },
  {
    situation: "robots.txt cannot be reached",
    request: { robots: { verdict: "unreachable", reason: "timeout", until: NOW + 7 } },
    gives: ["robots-missing", NOW + 7],
  },
  {
    situation: "robots.txt was put off (P11)",
    request: { robots: { verdict: "deferred", until: NOW + 7 } },
    gives: ["robots-missing", NOW + 7],
  },
  { situation: "robots.txt forbids it", request: { robots: { verdict: "disallow" } }, gives: ["robots"] },
  {
    situation: "the address of the host is refused",
    request: { robots: { verdict: "unreachable", reason: "address", until: NOW + 7 } },
    gives: ["address"],
  },
  { situation: "the host's pages are spent", host: { pages: 100 }, gives: ["host-page-limit"] },
  { situation: "three tries without a completion", host: { recent: tried(limits.triesPerVersion) }, gives: ["poisoned"] },
  { situation: "the host is left alone", host: { backoffUntil: NOW + 1 }, gives: ["backoff", NOW + 1] },
  {
    situation: "no place is free: the first to end decides",
    host: { inFlight: [flight({ expiresAt: NOW + 9 }), flight({ token: "t", leaseId: "l", urlId: "u", expiresAt: NOW + 8 })] },
    policy: { concurrency: 2 },
    gives: ["concurrency", NOW + 8],
  },
  { situation: "the clock says not yet (P1)", host: { lastAnsweredAt: NOW - 999 }, gives: ["clock", NOW + 2] },
];

for (const { situation, gives, ...given } of refusals)
  test(`no request: ${situation}`, () => {
    assert.deepEqual(told(decide(given)), gives);
  });

test("of two reasons the one that is judged first is told", () => {
  const owner = refusals.slice(0, 6).filter(({ situation }) => !situation.startsWith("the same"));
  for (const [index, first] of owner.entries())
    for (const second of [...owner.slice(index + 1), ...refusals.slice(6)]) {
      const both = {
        host: { ...second.host, ...first.host },
        policy: { ...second.policy, ...first.policy },
        request: { ...second.request, ...first.request },
      };
      assert.equal(told(decide(both))[0], first.gives[0], `${first.situation}, and ${second.situation}`);
    }
});

test("nothing stands against it: the request is booked with all that its end needs", () => {
  const before = host({ lastAnsweredAt: NOW - 1_001, lastEndAt: NOW - 1_000, epoch: 1, pages: 4 });
  const admission = admit(before, request({ lease: lease({ epoch: 3 }), viaAllowed: true }), policy(), NOW);
  assert.ok(admission.kind === "admitted");
  assert.deepEqual(admission.flight, {
    token: "token-1",
    leaseId: "lease-1",
    urlId: "url-1",
    hostKey: "http://example.org",
    kind: "page",
    version: 0,
    admittedAt: NOW,
    sendBy: NOW + 250,
    expiresAt: NOW + 250 + 30_000 + 5_000,
  });
  assert.deepEqual(admission.host, {
    ...before,
    day: { day: Math.floor(NOW / 86_400_000), pages: 1, bytes: 0 },
    epoch: 3,
    policyVersion: 7,
    viaAllowed: true,
    pages: 5,
    inFlight: [admission.flight],
    recent: tried(1),
  });
});

test("the clock's own millisecond is the first that is allowed", () => {
  const answered = host({ lastAnsweredAt: NOW - 1_000 });
  assert.deepEqual(told(admit(answered, request(), policy(), NOW)), ["clock", NOW + 1]);
  assert.equal(admit(answered, request(), policy(), NOW + 1).kind, "admitted");
});

test("our own entry, whose write was answered by nobody, is found again and books nothing twice", () => {
  const first = admit(host(), request(), policy(), NOW);
  assert.ok(first.kind === "admitted");
  const again = admit(first.host, request(), policy({ paused: true }), NOW + 10);
  assert.deepEqual(again, { kind: "admitted", host: first.host, flight: first.flight });
});

test("our own entry found too late is no permission any more (P9)", () => {
  const first = admit(host(), request(), policy(), NOW);
  assert.ok(first.kind === "admitted");
  const late = admit(first.host, request(), policy(), first.flight.expiresAt);
  assert.equal(told(late)[0], "backoff");
});

test("an epoch only rises", () => {
  const older = admit(host({ epoch: 5 }), request({ lease: lease({ epoch: 4 }) }), policy(), NOW);
  assert.deepEqual(told(older), ["epoch"]);
  for (const epoch of [5, 6]) {
    const admission = admit(host({ epoch: 5 }), request({ lease: lease({ epoch }) }), policy(), NOW);
    assert.ok(admission.kind === "admitted");
    assert.equal(admission.host.epoch, epoch);
  }
});

test("robots.txt needs no verdict, no page and no tries", () => {
  const robots = request({ lease: lease({ kind: "robots", urlId: "robots" }), robots: undefined });
  const admission = admit(host({ pages: 100, recent: tried(3) }), robots, policy(), NOW);
  assert.ok(admission.kind === "admitted");
  assert.equal(admission.host.pages, 100);
  assert.deepEqual(admission.host.recent, tried(3));
});

test("robots.txt of another host key of the same clock does not hold a page back", () => {
  const other = flight({ kind: "robots", urlId: "robots", hostKey: "https://example.org" });
  const given = host({ inFlight: [other], lastSendAt: NOW - 5_000 });
  assert.equal(admit(given, request(), policy({ concurrency: 2, delayMs: 0 }), NOW).kind, "admitted");
});

test("tries are counted by URL and version; a new version begins again, and the oldest of eight is forgotten", () => {
  const admission = admit(host({ recent: tried(2) }), request(), policy(), NOW);
  assert.ok(admission.kind === "admitted");
  assert.deepEqual(admission.host.recent, tried(3));
  const next = admit(host({ recent: tried(3) }), request({ lease: lease({ version: 1 }) }), policy(), NOW);
  assert.ok(next.kind === "admitted");
  assert.deepEqual(next.host.recent, tried(1, 1));
  const many = Array.from({ length: limits.recentUrls }, (_, index) => ({ urlId: `old-${index}`, version: 0, tries: 1 }));
  const full = admit(host({ recent: many }), request(), policy(), NOW);
  assert.ok(full.kind === "admitted");
  assert.deepEqual(full.host.recent, [...many.slice(1), ...tried(1)]);
});

const windows: [situation: string, change: Partial<PacePolicy>, windowMs: number][] = [
  ["one at a time: the gap counts from the answer", {}, 250],
  ["several: no longer than the gap", { concurrency: 2, delayMs: 120 }, 120],
  ["several: long enough for a durable write", { concurrency: 2, delayMs: 10 }, 50],
  ["several: a long gap", { concurrency: 2, delayMs: 5_000 }, 250],
  ["several, no gap", { concurrency: 2, delayMs: 0 }, 250],
];
for (const [situation, change, windowMs] of windows)
  test(`how long a request may take to leave: ${situation}`, () => {
    const admission = admit(host(), request(), policy(change), NOW);
    assert.ok(admission.kind === "admitted");
    assert.equal(admission.flight.sendBy - admission.flight.admittedAt, windowMs);
  });

test("with clocks that differ, times are compared as early and written as late as they may be", () => {
  const answered = host({ lastAnsweredAt: NOW - 1_001 });
  assert.deepEqual(told(admit(answered, request(), policy(), NOW, 200)), ["clock", NOW + 200]);
  const resting = host({ backoffUntil: NOW });
  assert.deepEqual(told(admit(resting, request(), policy(), NOW + 100, 200)), ["backoff", NOW + 200]);
  const admission = admit(answered, request(), policy(), NOW + 200, 200);
  assert.ok(admission.kind === "admitted");
  assert.equal(admission.flight.admittedAt, NOW + 400);
});

function decide(given: Pick<Case, "host" | "request" | "policy">): Admission {
  return admit(host(given.host), request(given.request), policy(given.policy), NOW);
}

function told(admission: Admission): [string, number?] {
  if (admission.kind === "admitted") return ["admitted"];
  if (admission.kind === "settled") return [admission.outcome];
  return admission.until === undefined ? [admission.reason] : [admission.reason, admission.until];
}

const TODAY = Math.floor(NOW / 86_400_000);
const budget = { pagesPerDay: 3, bytesPerDay: 1_000 };
const spents: [situation: string, spent: HostState["day"], kind: "page" | "robots", refused: string | undefined][] = [
  ["its pages of the day are spent", { day: TODAY, pages: 3, bytes: 0 }, "page", "host-day-pages"],
  ["its bytes of the day are spent", { day: TODAY, pages: 1, bytes: 1_000 }, "page", "host-day-bytes"],
  ["they were spent yesterday", { day: TODAY - 1, pages: 3, bytes: 5_000 }, "page", undefined],
  ["robots.txt is no page", { day: TODAY, pages: 3, bytes: 5_000 }, "robots", undefined],
];
for (const [situation, day, kind, refused] of spents)
  test(`the budget of a host's day: ${situation}`, () => {
    const admission = admit(host({ day: day! }), request({ lease: lease({ kind }) }), policy({ dayBudget: budget }), NOW);
    if (refused === undefined) return assert.equal(admission.kind, "admitted");
    assert.deepEqual(admission, { kind: "refused", reason: refused, until: (TODAY + 1) * 86_400_000 });
  });

for (const withheld of ["excluded", "held"] as const)
  test(`a URL that a policy forbids (${withheld}) is settled without a request; its host's robots.txt may still be asked for`, () => {
    const settled = admit(host(), request({ withheld }), policy(), NOW);
    assert.deepEqual(settled, { kind: "settled", outcome: withheld });
    assert.equal(admit(host(), request({ withheld, lease: lease({ kind: "robots" }) }), policy(), NOW).kind, "admitted");
  });

for (const spent of [{ pages: 100 }, { day: { day: TODAY, pages: 3, bytes: 0 } }])
  test(`a host whose budget is spent (${Object.keys(spent)}) still settles what needs no request`, () => {
    const forbidden = request({ robots: { verdict: "disallow" } });
    const rules = policy({ dayBudget: budget });
    assert.deepEqual(admit(host(spent), forbidden, rules, NOW), { kind: "settled", outcome: "robots" });
    assert.equal(admit(host(spent), request({ withheld: "excluded" }), rules, NOW).kind, "settled");
    assert.equal(admit(host(spent), request(), rules, NOW).kind, "refused");
  });
