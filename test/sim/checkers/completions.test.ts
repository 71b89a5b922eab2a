import assert from "node:assert/strict";
import { test } from "node:test";
import type { FetchEvent } from "../../../schemas/events.ts";
import { completions } from "./completions.ts";
import { facts, fetchEvent, fetched, saysAtEnd, standing, url } from "./given.ts";

const A = "http://h1.sim/a";

const told = (changes: Partial<FetchEvent>[], faultless = true) => {
  const checker = completions(facts({}, { faultless }));
  for (const change of changes) checker.published?.("fetch", fetchEvent(A, change));
  return checker;
};

test("completions: each version once, repeats of the same lease aside", async () => {
  const checker = told([{}, {}, { version: 1, leaseId: "lease-2" }, { kind: "robots", leaseId: "lease-3" }]);
  assert.deepEqual(await saysAtEnd(checker, await standing([fetched(A, { version: 2, lastLeaseId: "lease-2" })])), []);
});

test("completions: two leases of one version are too many, unless there were faults", () => {
  const twice = [{}, { leaseId: "lease-2" }];
  assert.match(told(twice).violations.words.join(), /ended twice/);
  assert.deepEqual(told(twice, false).violations.words, []);
});

test("completions: a version that nobody came to before", () => {
  assert.match(told([{}, { version: 2 }], false).violations.words.join(), /version 2 was tried, 1 never/);
});

const ends: [string, Partial<FetchEvent>[], Parameters<typeof fetched>[1], RegExp][] = [
  ["a version more than was tried", [{}], { version: 2 }, /version 2, and events of 1 versions/],
  ["a lease that tells of nothing", [{}], { lastLeaseId: "lease-9" }, /of which no event tells/],
  ["another outcome than its lease's", [{ outcome: "gone" }], {}, /ended as fetched.*says gone/],
];
for (const [name, events, record, wrong] of ends) {
  test(`completions: the record has ${name}`, async () => {
    for (const faultless of [true, false]) {
      assert.match((await saysAtEnd(told(events, faultless), await standing([fetched(A, record)]))).join(), wrong);
    }
  });
}

test("completions: a late completion that changed the record is seen by its lease", async () => {
  // lease-1 came first and completed; lease-2 tried the same version and must not stand in the record of version 2.
  const events = [{}, { leaseId: "lease-2" }, { version: 1, leaseId: "lease-3" }];
  const right = fetched(A, { version: 2, lastLeaseId: "lease-3" });
  assert.deepEqual(await saysAtEnd(told(events, false), await standing([right])), []);
  const wrong = fetched(A, { version: 2, lastLeaseId: "lease-2" });
  assert.match((await saysAtEnd(told(events, false), await standing([wrong]))).join(), /of which no event tells/);
});

test("completions: tried and never completed is a loss only where nothing failed", async () => {
  assert.deepEqual(await saysAtEnd(told([{}], false), await standing([url(A)])), []);
  assert.match((await saysAtEnd(told([{}]), await standing([url(A)]))).join(), /version 0, and events of 1/);
});
