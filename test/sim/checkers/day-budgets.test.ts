import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostPolicy } from "../../../schemas/crawl-config.ts";
import { budgets } from "./budgets.ts";
import { facts, request, robotsRequest, saysOf } from "./given.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const policies = (limits: HostPolicy["limits"] & object): { policies: HostPolicy[] } => ({
  policies: [{ host: "h1.sim", agreed: false, limits }],
});

test("day budgets: pages up to the day's, robots.txt and other hosts aside; one more is too many, and the next day begins anew", () => {
  const checker = budgets(facts(policies({ pagesPerDay: 2 })));
  const fine = [
    robotsRequest(MINUTE, ""),
    request(2 * MINUTE),
    request(3 * MINUTE),
    request(3 * MINUTE, { host: "h2.sim" }),
    request(DAY + MINUTE),
    request(DAY + 2 * MINUTE),
  ];
  assert.deepEqual(saysOf(checker, fine), []);
  assert.match(saysOf(checker, [request(DAY + 3 * MINUTE)]).join(), /page 3 of 2 of its day/);
});

test("day budgets: a request within a second of midnight may be of either day", () => {
  const checker = budgets(facts(policies({ pagesPerDay: 1 })));
  assert.deepEqual(saysOf(checker, [request(MINUTE), request(DAY - 500), request(DAY + 500), request(DAY + MINUTE)]), []);
});

test("day budgets: bytes may be exceeded by the answer that spends them, and by nothing after it", () => {
  const checker = budgets(facts(policies({ bytesPerDay: 1_000 })));
  assert.deepEqual(saysOf(checker, [request(MINUTE, { bodyBytes: 900 }), request(2 * MINUTE, { bodyBytes: 900 })]), []);
  assert.match(saysOf(checker, [request(3 * MINUTE)]).join(), /1800 bytes of 1000 of its day/);
});

test("day budgets: bytes that a worker heard just before it died are not known", () => {
  const given = facts(policies({ bytesPerDay: 1_000 }), { faultless: false });
  const checker = budgets(given);
  checker.arrived?.(request(MINUTE, { bodyBytes: 2_000 }));
  given.clock.at += MINUTE + 100;
  checker.crashed?.("w1");
  assert.deepEqual(saysOf(checker, [request(2 * MINUTE)]), []);
});
