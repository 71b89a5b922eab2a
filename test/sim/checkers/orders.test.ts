import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostPolicy } from "../../../schemas/crawl-config.ts";
import type { SimOrder } from "../orders.ts";
import { facts, request, robotsRequest, saysOf, T } from "./given.ts";
import { orders } from "./orders.ts";

const SECOND = 1_000;
const order = (at: number, ...hosts: HostPolicy[]): SimOrder => ({ at: T + at, policies: { version: 1, hosts } });
const pages: HostPolicy = { host: "h1.sim", pattern: "http://h1.sim/p**", paused: true };
const whole: HostPolicy = { host: "h1.sim", agreed: false, excluded: true };

const cases: [string, SimOrder[], ReturnType<typeof request>[], number][] = [
  ["a request 10 s after a pause", [order(SECOND, pages)], [request(11 * SECOND)], 1],
  ["a request less than 10 s after it", [order(SECOND, pages)], [request(11 * SECOND - 1)], 0],
  [
    "another pattern, another host, and robots.txt",
    [order(0, pages)],
    [request(20_000, { path: "/d1" }), request(20_000, { host: "h2.sim" }), robotsRequest(20_000, "")],
    0,
  ],
  ["robots.txt of an excluded host", [order(0, whole)], [robotsRequest(20_000, "")], 1],
  ["a host that was resumed", [order(0, whole), order(60 * SECOND)], [request(60 * SECOND)], 0],
  [
    "two orders, one after the other, that both forbid it",
    [order(0, pages), order(55 * SECOND, whole)],
    [request(60 * SECOND)],
    1,
  ],
  [
    "a pause that ended for a second",
    [order(0, pages), order(55 * SECOND), order(56 * SECOND, pages)],
    [request(60 * SECOND)],
    0,
  ],
];
for (const [name, given, requests, wrong] of cases) {
  test(`orders: ${name}: ${wrong === 0 ? "well" : "not obeyed"}`, () => {
    assert.equal(saysOf(orders(facts({}, { orders: given })), requests).length, wrong);
  });
}

test("orders: what the crawl's own policies forbid is never asked for, and an order may lift a pause", () => {
  assert.match(saysOf(orders(facts({ policies: [pages] })), [request(0)]).join(), /its pattern is paused/);
  const lifted = order(0, { host: "h1.sim", pattern: "http://h1.sim/p**", paused: false });
  assert.deepEqual(saysOf(orders(facts({ policies: [pages] }, { orders: [lifted] })), [request(SECOND)]), []);
});

test("orders: stores that are slow are waited for", () => {
  const given = facts({}, { orders: [order(0, pages)], storeMsMax: 30 * SECOND });
  assert.deepEqual(saysOf(orders(given), [request(39 * SECOND)]), []);
  assert.match(saysOf(orders(given), [request(40 * SECOND)]).join(), /paused/);
});
