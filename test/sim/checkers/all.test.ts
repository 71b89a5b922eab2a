import assert from "node:assert/strict";
import { test } from "node:test";
import { rowKey } from "../../../schemas/row-key.ts";
import { hashText } from "../chance.ts";
import { allCheckers } from "./all.ts";
import { facts, fetchEvent, fetched, HOUR, indexEvent, links, placeOf, request, robotsRequest, standing, T } from "./given.ts";
import { Sample } from "./sample.ts";

const A = "http://h1.sim/a";

test("all checkers: a small well-behaved crawl breaks no rule, and each checker has a name of its own", async () => {
  const checkers = allCheckers(facts({}, { requestsMin: 2 }));
  for (const checker of checkers) {
    checker.discovered?.(links([A]));
    checker.recorded?.(rowKey(placeOf(A).paceKey, placeOf(A).urlId));
    checker.arrived?.(robotsRequest(0, ""));
    checker.arrived?.(request(2_000, { path: "/a" }));
    checker.published?.("fetch", fetchEvent(A));
    checker.published?.("index", indexEvent(A));
    await checker.finish?.(await standing([fetched(A)], { now: T + HOUR }));
  }
  assert.deepEqual(
    checkers.flatMap((checker) => checker.violations.words.map((words) => `${checker.name}: ${words}`)),
    [],
  );
  assert.equal(new Set(checkers.map(({ name }) => name)).size, checkers.length);
});

test("sample: more keys than fit leave a share chosen by hash, each watched from its first time on", () => {
  const sample = new Sample<number>(1_000);
  for (let index = 0; index < 50_000; index++) if (sample.chosen(`key ${index}`)) sample.set(`key ${index}`, index);
  assert.ok(sample.size > 300 && sample.size <= 1_000);
  assert.ok(sample.oneIn >= 64);
  for (let index = 0; index < 50_000; index++)
    assert.equal(sample.has(`key ${index}`), (hashText(`key ${index}`) & (sample.oneIn - 1)) === 0);
});
