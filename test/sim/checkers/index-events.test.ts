import assert from "node:assert/strict";
import { test } from "node:test";
import type { IndexEvent } from "../../../schemas/events.ts";
import { facts, fetched, indexEvent, saysAtEnd, standing, url } from "./given.ts";
import { indexEvents } from "./index-events.ts";

const A = "http://h1.sim/a";

const told = (changes: Partial<IndexEvent>[]) => {
  const checker = indexEvents(facts());
  for (const change of changes) checker.published?.("index", indexEvent(A, change));
  return checker;
};
const up = (docVersion: number): Partial<IndexEvent> => ({ docVersion });
const gone = (docVersion: number): Partial<IndexEvent> => ({ docVersion, op: "delete" });

test("index-events: upserts, a delete, an upsert again, and exact repeats agree with the record", async () => {
  const checker = told([up(1), up(1), up(2), gone(3), up(2), up(4)]);
  assert.deepEqual(await saysAtEnd(checker, await standing([fetched(A, { docVersion: 4 })])), []);
});

const wrongs: [string, Partial<IndexEvent>[], RegExp][] = [
  ["two different events of one document version", [up(1), { docVersion: 1, at: 5 }], /two different events/],
  ["a gap", [up(1), up(3)], /3 follows 1/],
  ["a beginning at 2", [up(2)], /2 follows 0/],
  ["a delete first", [gone(1)], /without a document/],
  ["two deletes in a row", [up(1), gone(2), gone(3)], /without a document/],
];
for (const [name, changes, wrong] of wrongs) {
  test(`index-events: ${name}`, () => {
    assert.match(told(changes).violations.words.join(), wrong);
  });
}

const ends: [string, Partial<IndexEvent>[], Parameters<typeof fetched>[1], RegExp][] = [
  ["the record is a version ahead", [up(1)], { docVersion: 2 }, /the index was told 1/],
  ["the index was told nothing", [], { docVersion: 1 }, /told nothing/],
  ["the record says deleted", [up(1)], { docVersion: 1, indexed: false }, /not indexed, the index was told upsert/],
];
for (const [name, changes, record, wrong] of ends) {
  test(`index-events: at the end ${name}`, async () => {
    assert.match((await saysAtEnd(told(changes), await standing([fetched(A, record)]))).join(), wrong);
  });
}

test("index-events: a URL that was never indexed needs no event", async () => {
  assert.deepEqual(await saysAtEnd(told([]), await standing([url(A)])), []);
});
