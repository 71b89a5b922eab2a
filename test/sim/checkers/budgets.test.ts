import assert from "node:assert/strict";
import { test } from "node:test";
import { budgets } from "./budgets.ts";
import { agreed, facts, fetched, request, robotsRequest, saysAtEnd, saysOf, standing, url } from "./given.ts";

const A = "http://h1.sim/a";

test("budgets: pages up to the host's limit, robots.txt aside; one more is too many", () => {
  const checker = budgets(facts(agreed({ pagesMax: 2 })));
  assert.deepEqual(saysOf(checker, [robotsRequest(0, ""), request(1), request(2), request(3, { host: "h2.sim" })]), []);
  assert.match(saysOf(checker, [request(4)]).join(), /page 3 of 2/);
});

test("budgets: the default limit of a host", () => {
  assert.match(saysOf(budgets(facts({ pagesPerHost: 1 })), [request(0), request(1)]).join(), /page 2 of 1/);
});

test("budgets: the limit of the crawl over all hosts", () => {
  const checker = budgets(facts({ pagesMax: 2 }));
  assert.deepEqual(saysOf(checker, [request(0), request(1, { host: "h2.sim" })]), []);
  assert.match(saysOf(checker, [request(2)]).join(), /page 3 of 2 of the crawl/);
});

test("budgets: after a death the crawl's limit is judged by the records", async () => {
  const checker = budgets(facts({ pagesMax: 0 }));
  checker.crashed?.("w1");
  assert.deepEqual(saysOf(checker, [request(0)]), []);
  const few = Array.from({ length: 256 }, (_, index) => fetched(`${A}${index}`));
  assert.deepEqual(await saysAtEnd(checker, await standing(few)), []);
  const more = budgets(facts({ pagesMax: 0 }));
  more.crashed?.("w1");
  assert.match((await saysAtEnd(more, await standing([...few, fetched(A)]))).join(), /257 pages of 0/);
});

test("budgets: a paused host is not asked", () => {
  assert.match(saysOf(budgets(facts(agreed({ paused: true }))), [robotsRequest(0, "")]).join(), /paused/);
});

test("budgets: depth and hops of the records", async () => {
  assert.deepEqual(await saysAtEnd(budgets(facts()), await standing([url(A, { depth: 40, hops: 10 })])), []);
  assert.match((await saysAtEnd(budgets(facts()), await standing([url(A, { depth: 41 })]))).join(), /41 links deep/);
  assert.match((await saysAtEnd(budgets(facts()), await standing([url(A, { hops: 11 })]))).join(), /11 redirects/);
});
