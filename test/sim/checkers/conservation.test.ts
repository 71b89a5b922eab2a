import assert from "node:assert/strict";
import { test } from "node:test";
import { dueKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import { conservation } from "./conservation.ts";
import { facts, fetched, HOUR, links, placeOf, putDue, request, saysAtEnd, standing, T, url } from "./given.ts";

const A = "http://h1.sim/a";
const B = "http://h1.sim/b";

test("conservation: new and fetched URLs with their due entries are well", async () => {
  const checker = conservation(facts());
  checker.discovered?.(links([A, `${B}#part`]));
  checker.arrived?.(request(0, { path: "/a" }));
  assert.deepEqual(await saysAtEnd(checker, await standing([url(A), fetched(B)])), []);
});

test("conservation: a record without its due entry", async () => {
  const final = await standing([url(A)]);
  await final.tables.due.delete([{ key: dueKey({ ...placeOf(A), priority: 1, dueAt: T }) }]);
  assert.match((await saysAtEnd(conservation(facts()), final)).join(), /no due entry/);
});

test("conservation: a second due entry", async () => {
  const final = await standing([url(A)]);
  await putDue(final, A, 1, T + HOUR);
  assert.match((await saysAtEnd(conservation(facts()), final)).join(), /second due entry/);
});

test("conservation: a due entry without a record", async () => {
  const final = await standing([]);
  await putDue(final, A, 1, T);
  assert.match((await saysAtEnd(conservation(facts()), final)).join(), /without a record/);
});

test("conservation: a published URL without a record is lost, unless its message is still to come or it lies beyond the limits", async () => {
  const lost = conservation(facts());
  lost.discovered?.(links([A]));
  assert.match((await saysAtEnd(lost, await standing([]))).join(), /published, and without a record/);

  const queued = conservation(facts());
  queued.discovered?.(links([A]));
  const undelivered = { discover: [links([A])], reparse: 0 };
  assert.deepEqual(await saysAtEnd(queued, await standing([], { undelivered })), []);

  const beyond = conservation(facts());
  beyond.discovered?.(links([A], { depth: 41 }));
  beyond.discovered?.(links([A], { hops: 11 }));
  beyond.discovered?.(links(["mailto:someone@h1.sim", `http://h1.sim/${"a".repeat(2_048)}`]));
  assert.deepEqual(await saysAtEnd(beyond, await standing([])), []);
});

test("conservation: a request to a URL without a record", async () => {
  const checker = conservation(facts());
  checker.arrived?.(request(0, { path: "/a" }));
  assert.match((await saysAtEnd(checker, await standing([]))).join(), /asked, and without a record/);
});

const insane: [string, UrlState, RegExp][] = [
  ["new, with an outcome", url(A, { lastOutcome: "fetched" }), /yet completed/],
  ["new, among the revisits", url(A, { priority: 2 }), /of class 2/],
  ["completed without an outcome", url(A, { version: 1 }), /without an outcome/],
  ["indexed without a document", fetched(A, { docVersion: 0 }), /without a document/],
  ["with unfinished marks", fetched(A, { marks: { index: "upsert" } }), /unfinished marks/],
  ["still to be parsed, with no message that says so", fetched(A, { marks: { reparse: true } }), /to be parsed anew/],
];
for (const [name, record, wrong] of insane) {
  test(`conservation: a record that is ${name}`, async () => {
    assert.match((await saysAtEnd(conservation(facts()), await standing([record]))).join(), wrong);
  });
}

test("conservation: a page that is still to be parsed has its message in the queue", async () => {
  const final = await standing([fetched(A, { marks: { reparse: true } })], { undelivered: { discover: [], reparse: 1 } });
  assert.deepEqual(await saysAtEnd(conservation(facts()), final), []);
});
