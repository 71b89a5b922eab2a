import assert from "node:assert/strict";
import { test } from "node:test";
import { rowKey } from "../../../schemas/row-key.ts";
import type { WireEntry } from "../wire.ts";
import { facts, fetchEvent, links, placeOf, request, robotsRequest, saysAtEnd, standing, T } from "./given.ts";
import { promptness } from "./promptness.ts";

const A = "http://h1.sim/a"; // one of the URLs that are timed
const MINUTE = 60_000;
const keyOf = (url: string): string => rowKey(placeOf(url).paceKey, placeOf(url).urlId);

/** A checker that has heard of a URL at T, whose record stands `afterMs` later. */
function heard(afterMs: number, faultless = true) {
  const given = facts({}, { faultless });
  const checker = promptness(given);
  checker.discovered?.(links([A]));
  given.clock.at = T + afterMs;
  checker.recorded?.(keyOf(A));
  return checker;
}

test("promptness: a record within a minute is in time, a later one not", () => {
  assert.deepEqual(heard(MINUTE).violations.words, []);
  assert.match(heard(MINUTE + 1).violations.words.join(), /not durable 60001 ms/);
});

test("promptness: a URL that never becomes a record is told by the next request", () => {
  const checker = promptness(facts());
  checker.discovered?.(links([A]));
  checker.arrived?.(request(MINUTE));
  assert.deepEqual(checker.violations.words, []);
  checker.arrived?.(request(MINUTE + 1));
  assert.match(checker.violations.words.join(), /not durable/);
});

test("promptness: where faults were planned nothing is judged", () => {
  assert.deepEqual(heard(MINUTE + 1, false).violations.words, []);
});

/** The checker's figures after the host has a URL since T and these requests came. */
function turnsOf(requests: readonly WireEntry[]): Record<string, number> {
  const checker = heard(0);
  for (const entry of requests) checker.arrived?.(entry);
  return checker.figures?.() ?? {};
}

test("promptness: a turn lasts from when the host is free to its next request", () => {
  const { turns, turnsLate, turnLongestMs } = turnsOf([robotsRequest(5_000, ""), request(8_050)]);
  assert.deepEqual({ turns, turnsLate, turnLongestMs }, { turns: 2, turnsLate: 0, turnLongestMs: 5_000 });
});

test("promptness: Crawl-delay, Retry-After and back-off are not waiting", () => {
  const slow = robotsRequest(0, "User-agent: *\nCrawl-delay: 5\n");
  assert.equal(turnsOf([slow, request(5_060)]).turnLongestMs, 10);
  const rested = [robotsRequest(0, ""), request(2_000, { status: 503, retryAfter: "3600" }), request(3_602_050)];
  assert.equal(turnsOf(rested).turnLongestMs, 950);
  const failing = [robotsRequest(0, ""), request(2_000, { status: 500 }), request(2_000 + 50 + 18_750)];
  assert.equal(turnsOf(failing).turnLongestMs, 950);
});

test("promptness: a host whose robots.txt fails has no turn, one whose robots.txt is missing has", () => {
  assert.equal(turnsOf([request(0, { path: "/robots.txt", status: 503 }), request(MINUTE)]).turns, 1);
  assert.equal(turnsOf([request(0, { path: "/robots.txt", status: 404 }), request(MINUTE)]).turns, 2);
});

test("promptness: more than one in a hundred turns longer than ten minutes are too many, one not", async () => {
  const quick = Array.from({ length: 99 }, (_, index) => request(2_000 * (index + 1)));
  const slow = request(2_000 * 99 + 1_050 + 11 * MINUTE);
  const final = await standing([], { stoppedAt: slow.at });
  const well = heard(0);
  for (const entry of [robotsRequest(0, ""), ...quick, slow]) well.arrived?.(entry);
  assert.deepEqual(await saysAtEnd(well, final), []);
  const bad = heard(0);
  for (const entry of [robotsRequest(0, ""), ...quick.slice(1), slow]) bad.arrived?.(entry);
  assert.deepEqual(await saysAtEnd(bad, final), []);
  for (const entry of [request(40 * MINUTE)]) bad.arrived?.(entry);
  assert.match((await saysAtEnd(bad, await standing([], { stoppedAt: T + 40 * MINUTE }))).join(), /2 of 101 turns/);
});

test("promptness: a host that is never asked, and one that has nothing to ask for", async () => {
  const final = await standing([], { stoppedAt: T + 11 * MINUTE });
  assert.match((await saysAtEnd(heard(0), final)).join(), /h1\.sim waited 660000 ms/);
  const done = heard(0);
  done.published?.("fetch", fetchEvent(A));
  assert.deepEqual(await saysAtEnd(done, final), []);
});
