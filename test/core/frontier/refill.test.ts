import assert from "node:assert/strict";
import { test } from "node:test";
import { nextPassAt, refilled, refillScans, select } from "../../../core/frontier/refill.ts";
import { type FrontierState, newFrontier } from "../../../core/frontier/state.ts";
import { limits } from "../../../schemas/limits.ts";
import { dueKey } from "../../../schemas/row-key.ts";
import { DAY, NOW, PACE_KEY, ready, url } from "./given.ts";

const NEVER = Number.MAX_SAFE_INTEGER;
const LIMIT = limits.readyUrls + 1;
const key = (priority: number, dueAt: number, urlId: string) => dueKey({ paceKey: PACE_KEY, priority, dueAt, urlId });
const state = (change: Partial<FrontierState> = {}): FrontierState => ({ ...newFrontier(NOW), ...change });

test("one scan a class from its cursor, the entry at the cursor left out, another class never met", () => {
  const cursor = key(1, NOW, "x");
  const scans = refillScans(state({ cursors: ["", cursor, "", ""] }), PACE_KEY);
  const inside = (at: number, entry: string) => entry >= scans[at]!.from && entry < scans[at]!.to;
  assert.equal(scans.length, 4);
  assert.ok(inside(0, key(0, 0, "a")) && inside(0, key(0, NOW * 2, "zzz")));
  assert.ok(!inside(1, cursor) && !inside(1, key(1, NOW - 1, "z")));
  assert.ok(inside(1, key(1, NOW, "y")) && inside(1, key(1, NOW + 1, "a")));
  for (const other of [0, 2, 3]) assert.ok(!inside(1, key(other, NOW + 5, "a")));
  assert.ok(!inside(0, dueKey({ paceKey: "example.org:80", priority: 0, dueAt: 1, urlId: "a" })));
});

test("a scan asks for one entry more than there is room, and for two where there is none", () => {
  const limitWith = (count: number) =>
    refillScans(state({ ready: Array.from({ length: count }, (_, at) => ready(String(at))) }), PACE_KEY)[0]!.limit;
  assert.deepEqual([0, 60, 64].map(limitWith), [65, 5, 2]);
});

test("the index is read again from its head at once, but after a while where URLs that are blocked fill it", () => {
  const read = state({ cursorsResetAt: NOW - 5 });
  const waitWhile = (...blockedMs: number[]) =>
    nextPassAt({ ...read, blocked: blockedMs.map((ms, at) => ({ hostKey: `http://a.test:${at}`, until: NOW - 5 + ms })) }) -
    (NOW - 5);
  assert.ok(nextPassAt(read) <= NOW);
  assert.equal(waitWhile(30_000), limits.blockedPassMs);
  assert.equal(waitWhile(DAY, 32 * 60_000), 2 * 60_000, "the first that ends counts");
  assert.equal(waitWhile(DAY), limits.blockedPassMsMax);
});

test("classes are taken in their order, what is not due tells the next time", () => {
  const scans = [
    [key(0, NOW, "urgent")],
    [key(1, NOW - 50, "b"), key(1, NOW, "c"), key(1, NOW + 900, "later")],
    [key(2, NOW + 400, "revisit")],
    [],
  ];
  const { taken, cursors, nextDueAt } = select(state(), scans, LIMIT, NOW);
  assert.deepEqual(
    taken.map(({ urlId }) => urlId),
    ["urgent", "b", "c"],
  );
  assert.deepEqual(cursors, [scans[0]![0], scans[1]![1], "", ""]);
  assert.equal(nextDueAt, NOW + 400);
});

test("nothing is due: never, as far as this scan tells", () => {
  assert.deepEqual(select(state(), [[], [], [], []], LIMIT, NOW), { taken: [], cursors: ["", "", "", ""], nextDueAt: NEVER });
});

test("what is in the queue or leased is not taken again, and the cursor passes it", () => {
  const known = state({
    ready: [ready("a", { urlId: "a" })],
    leases: [{ leaseId: "l", urlId: "b", hostKey: "http://example.org", kind: "page", settle: false, expiresAt: NOW + 1 }],
  });
  const keys = ["a", "b", "c", "c"].map((urlId, index) => key(1, NOW - 10 + index, urlId));
  const { taken, cursors } = select(known, [[], keys, [], []], LIMIT, NOW);
  assert.deepEqual(
    taken.map(({ urlId }) => urlId),
    ["c"],
  );
  assert.equal(cursors[1], keys[3]);
});

test("where the queue is full the cursor stays before what had no room", () => {
  const full = state({ ready: Array.from({ length: 62 }, (_, at) => ready(String(at))) });
  const keys = ["a", "b", "c"].map((urlId, index) => key(1, NOW - 10 + index, urlId));
  const { taken, cursors, nextDueAt } = select(full, [[], keys, [key(2, NOW - 90, "old")], []], 3, NOW);
  assert.equal(taken.length, 2);
  assert.deepEqual(cursors, ["", keys[1], "", ""]);
  assert.equal(nextDueAt, NOW - 90, "and more is due");
});

test("a scan that was cut says that more may be due", () => {
  const keys = ["a", "b", "c"].map((urlId) => key(1, NOW - 10, urlId));
  const known = state({ ready: ["a", "b", "c"].map((urlId) => ready(urlId, { urlId })) });
  assert.equal(select(known, [[], keys, [], []], 3, NOW).nextDueAt, NOW);
  assert.equal(select(known, [[], keys, [], []], 4, NOW).nextDueAt, NEVER);
});

test("the record settles it: entries that disagree are stale, the others join in the order of class, time and id", () => {
  const before = state({ ready: [ready("z", { priority: 1, dueAt: NOW - 5 })] });
  const scans = [
    [key(0, NOW - 1, "first")],
    [key(1, NOW - 9, "early"), key(1, NOW - 5, "gone"), key(1, NOW - 5, "moved"), key(1, NOW - 5, "same")],
    [key(2, NOW - 99, "revisit"), key(2, NOW - 98, "reclassed")],
    [],
  ];
  const selection = select(before, scans, LIMIT, NOW);
  const records = [
    url({ priority: 0, nextFetchAt: NOW - 1, kind: "sitemap", canonicalUrl: "http://example.org/s.xml" }),
    url({ priority: 1, nextFetchAt: NOW - 9, failureCount: 2, version: 3 }),
    undefined,
    url({ priority: 1, nextFetchAt: NOW + 5 }),
    url({ priority: 1, nextFetchAt: NOW - 5 }),
    url({ priority: 2, nextFetchAt: NOW - 99 }),
    url({ priority: 1, nextFetchAt: NOW - 98 }),
  ];
  const { state: after, stale } = refilled(before, selection, records);
  assert.deepEqual(stale, [scans[1]![1], scans[1]![2], scans[2]![1]]);
  assert.deepEqual(
    after.ready.map(({ urlId }) => urlId),
    ["first", "early", "id-z", "same", "revisit"],
  );
  assert.deepEqual(after.ready[0], {
    urlId: "first",
    url: "http://example.org/s.xml",
    hostKey: "http://example.org",
    kind: "sitemap",
    version: 0,
    priority: 0,
    dueAt: NOW - 1,
    attempt: 0,
  });
  assert.deepEqual([after.ready[1]!.version, after.ready[1]!.attempt], [3, 2]);
  assert.deepEqual(after.cursors, selection.cursors);
});

test("an entry of a record with unfinished marks is not dropped: its new one may not stand yet", () => {
  const state = newFrontier(NOW);
  const selection = {
    taken: [{ key: "k", urlId: "u", priority: 1, dueAt: NOW - 5 }],
    cursors: ["", "k", "", ""],
    nextDueAt: NOW + 1,
  };
  const moved = url({ nextFetchAt: NOW + 1_000, marks: { dueFrom: { priority: 1, dueAt: NOW - 5 } } });
  const { state: after, stale, unfinished } = refilled(state, selection, [moved]);
  assert.deepEqual([after.ready, stale, unfinished], [[], [], [0]]);
});
