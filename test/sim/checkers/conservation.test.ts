import assert from "node:assert/strict";
import { test } from "node:test";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
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
];
for (const [name, record, wrong] of insane) {
  test(`conservation: a record that is ${name}`, async () => {
    assert.match((await saysAtEnd(conservation(facts()), await standing([record]))).join(), wrong);
  });
}

const limits = { urlsPerTemplate: 20, sampleOneIn: 10 };
const series = Array.from({ length: 20 }, (_, index) => `http://h1.sim/p${index}`);
const excused: [string, Partial<CrawlConfig>, string[], string?][] = [
  ["of a pattern that is full", { policies: [{ host: "h1.sim", limits }] }, ["http://h1.sim/p99"]],
  ["that is excluded", { policies: [{ host: "h1.sim", pattern: "http://h1.sim/d**", excluded: true }] }, ["http://h1.sim/d1"]],
  ["that repeats its segments", {}, ["http://h1.sim/g/one/one/one/"]],
  ["that its page links to with the same once more", {}, ["http://h1.sim/echo?q=1&q=1"], "http://h1.sim/echo?q=1"],
];
for (const [name, config, urls, from] of excused) {
  test(`conservation: no record is owed to a URL ${name}; one is to another URL of the host`, async () => {
    const checker = conservation(facts(config));
    checker.discovered?.(links([...series, ...urls, "http://h1.sim/x/other"], from === undefined ? {} : { from }));
    const final = await standing(series.map((each) => url(each)));
    assert.deepEqual(await saysAtEnd(checker, final), ["http://h1.sim/x/other: published, and without a record"]);
  });
}

test("conservation: a pattern with room is no excuse", async () => {
  const checker = conservation(facts({ policies: [{ host: "h1.sim", limits }] }));
  checker.discovered?.(links(["http://h1.sim/p99"]));
  assert.match(
    (await saysAtEnd(checker, await standing(series.slice(0, 5).map((each) => url(each))))).join(),
    /without a record/,
  );
});
