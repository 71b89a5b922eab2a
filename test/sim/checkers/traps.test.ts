import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostPolicy } from "../../../schemas/crawl-config.ts";
import { facts, fetchEvent, HOUR, links, request, saysAtEnd, standing, T, url } from "./given.ts";
import { traps } from "./traps.ts";

const FULL = 50;
const limited: HostPolicy[] = [{ host: "h1.sim", agreed: false, limits: { urlsPerQueryTemplate: FULL, sampleOneIn: 50 } }];
const found = (count: number, host = "h1.sim") =>
  Array.from({ length: count }, (_, index) => url(`http://${host}/find?f0=${index}&f1=0`, { discoveredAt: T + HOUR }));

test("traps: a pattern that has its limit is well, as are many URLs of a host without one; three times the limit is not", async () => {
  const given = facts({ policies: limited });
  assert.deepEqual(await saysAtEnd(traps(given), await standing([...found(FULL), ...found(200, "h2.sim")])), []);
  assert.match((await saysAtEnd(traps(given), await standing(found(3 * FULL)))).join(), /150 records, where 50/);
});

test("traps: neither a death nor a fault is an excuse for a pattern beyond its limit", async () => {
  const checker = traps(facts({ policies: limited }, { faultless: false }));
  checker.crashed?.("w1");
  assert.equal((await saysAtEnd(checker, await standing(found(3 * FULL)))).length, 1);
});

const refused: [string, HostPolicy[], string, RegExp][] = [
  ["segments in a row", [], "http://h1.sim/g/one/one/one/", /in a row/],
  ["segments again and again", [], "http://h1.sim/g/one/two/one/two/two/one/three/one/", /repeats/],
  ["two host names", [], "http://h1.sim/g/www.elsewhere.sim/www.elsewhere.sim/", /host names/],
  ["an echo", [], "http://h1.sim/echo?q=1&q=1", /twice/],
  ["an excluded pattern", [{ host: "h1.sim", pattern: "http://h1.sim/d**", excluded: true }], "http://h1.sim/d1", /excluded/],
  [
    "a session id where they are taken off",
    [{ host: "h1.sim", parameterRules: ["session-ids"] }],
    "http://h1.sim/p1?sessionid=a",
    /spelt/,
  ],
];
for (const [name, policies, wrong, words] of refused) {
  test(`traps: a record of ${name}`, async () => {
    const fine = url("http://h1.sim/g/one/two/one/");
    assert.deepEqual(await saysAtEnd(traps(facts({ policies })), await standing([fine])), []);
    assert.match((await saysAtEnd(traps(facts({ policies })), await standing([fine, url(wrong)]))).join(), words);
  });
}

/** A checker that has seen links of so many pages of a host that answers whatever is asked. */
async function followed(pages: number, deaths = 0, putOff = false): Promise<string[]> {
  const given = facts({}, { faultless: deaths === 0 });
  const host = given.world.hosts[1]!;
  host.trap = "anything";
  given.config.policies = [{ host: host.name, limits: { softNotFoundUrls: 10 } }];
  const checker = traps(given);
  for (let count = 0; count < deaths; count++) checker.crashed?.("w1");
  for (let page = 0; page < pages; page++) {
    const from = `http://${host.name}/any/${page}`;
    if (putOff) checker.published?.("fetch", fetchEvent(from, { reason: "parse-busy" }));
    checker.discovered?.(links(["http://h2.sim/p1"], { from }));
  }
  checker.discovered?.(links(["http://h2.sim/p1"], { from: `http://${host.name}/p1` }));
  return saysAtEnd(checker, await standing([]));
}

test("traps: pages with one text are followed up to the limit, by each worker anew; more are too many", async () => {
  assert.deepEqual(await followed(10), []);
  assert.match((await followed(20)).join(), /20 pages with one text/);
  assert.deepEqual(await followed(20, 1), []);
  assert.match((await followed(60, 1)).join(), /by 2 workers/);
  assert.equal((await followed(60, 0, true)).length, 1, "nor is a page spared whose parse was put off");
});

test("traps: a page with a text of its own is not withheld", () => {
  const checker = traps(facts());
  checker.arrived?.(request(0));
  checker.published?.("fetch", fetchEvent("http://h1.sim/p7", { reason: "soft-404" })); // a copy of a text that others have
  assert.deepEqual(checker.violations.words, []);
  checker.published?.("fetch", fetchEvent("http://h1.sim/p1", { reason: "soft-404" }));
  assert.match(checker.violations.words.join(), /like no other/);
});
