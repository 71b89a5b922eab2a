import assert from "node:assert/strict";
import { test } from "node:test";
import { headerOf, headersOf, isRedirect, outcomeOf } from "../../../core/http/outcome.ts";
import { outcomes } from "../../../schemas/reasons.ts";

const table: [status: number, outcome: string][] = [
  [200, "fetched"],
  [203, "fetched"],
  [204, "fetched"],
  [299, "fetched"],
  [301, "redirect"],
  [302, "redirect"],
  [303, "redirect"],
  [307, "redirect"],
  [308, "redirect"],
  [400, "client-error"],
  [401, "client-error"],
  [403, "client-error"],
  [404, "gone"],
  [410, "gone"],
  [429, "throttled"],
  [451, "client-error"],
  [500, "server-error"],
  [503, "server-error"],
  [599, "server-error"],
];
for (const [status, outcome] of table)
  test(`${status} is ${outcome}`, () => {
    assert.equal(outcomeOf(status, false, false), outcome);
    assert.equal(outcomeOf(status, true, false), outcome, "conditional or not");
  });

test("503 with Retry-After asks for rest; 500 and 404 with it are what they are", () => {
  assert.equal(outcomeOf(503, false, true), "throttled");
  assert.equal(outcomeOf(500, false, true), "server-error");
  assert.equal(outcomeOf(404, false, true), "gone");
});

test("304 is no answer to a request that named no validators (C3)", () => {
  assert.equal(outcomeOf(304, true, false), "unchanged");
  assert.equal(outcomeOf(304, false, false), "server-error");
});

test("300 and 305 name no target, and every status has an outcome", () => {
  assert.deepEqual([300, 304, 305, 306].map(isRedirect), [false, false, false, false]);
  for (let status = 0; status < 1000; status++) assert.ok(outcomes.includes(outcomeOf(status, status % 2 === 0, false)));
});

const headers: [string, string][] = [
  ["Content-Type", " text/html "],
  ["X-Robots-Tag", "noindex"],
  ["content-type", "text/plain"],
  ["x-robots-tag", " nofollow"],
];

test("headers are found whatever their case, trimmed, the first or all", () => {
  assert.equal(headerOf(headers, "CONTENT-type"), "text/html");
  assert.equal(headerOf(headers, "etag"), undefined);
  assert.deepEqual(headersOf(headers, "X-ROBOTS-TAG"), ["noindex", "nofollow"]);
  assert.deepEqual(headersOf(headers, "etag"), []);
});
