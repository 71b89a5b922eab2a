import assert from "node:assert/strict";
import { test } from "node:test";
import type { UrlState } from "../../../schemas/url-state.ts";
import { pageAt } from "../world.ts";
import { facts, fetchEvent, fetched, saysAtEnd, standing, T, url } from "./given.ts";
import { reparse } from "./reparse.ts";

const A = "http://h1.sim/p1";
const { world } = facts();
const linked = [...new Set(pageAt(world, world.byName.get("h1.sim")!, "/p1", T)!.links.map((link) => link.url))].filter(
  (each) => each !== A,
);

/** What is said of a page whose parse was put off, with this record and records of so many of its links. */
async function saysOf(change: Partial<UrlState>, links: number, undelivered = 0): Promise<string[]> {
  const checker = reparse(facts());
  checker.published?.("fetch", fetchEvent(A, { reason: "parse-busy" }));
  const records = [fetched(A, change), ...linked.slice(0, links).map((each) => url(each))];
  return saysAtEnd(checker, await standing(records, { undelivered: { discover: [], reparse: undelivered } }));
}

test("reparse: a page that was parsed in the end has its links among the records; without one of them it was not", async () => {
  assert.deepEqual(await saysOf({}, linked.length), []);
  assert.match((await saysOf({}, linked.length - 1)).join(), /its parse was put off, and its link to .* has no record/);
});

test("reparse: nothing is said of a page that was asked for again, or whose parse failed in the end", async () => {
  assert.deepEqual(await saysOf({ version: 2, lastLeaseId: "lease-2" }, 0), []);
  assert.deepEqual(await saysOf({ marks: { parseFailed: true }, lastReason: "parse-timeout" }, 0), []);
});

test("reparse: a mark that is left has its message in the queue", async () => {
  assert.deepEqual(await saysOf({ marks: { reparse: true } }, 0, 1), []);
  assert.match((await saysOf({ marks: { reparse: true } }, 0)).join(), /1 pages are marked to be parsed anew, 0 messages/);
});

test("reparse: a page that could not be parsed keeps its mark", async () => {
  const final = (change: Partial<UrlState>) => standing([fetched(A, { lastReason: "parse-memory", ...change })]);
  assert.deepEqual(await saysAtEnd(reparse(facts()), await final({ marks: { parseFailed: true } })), []);
  assert.match((await saysAtEnd(reparse(facts()), await final({}))).join(), /parse-memory, and no mark/);
});
