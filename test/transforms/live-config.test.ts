import assert from "node:assert/strict";
import { test } from "node:test";
import { liveConfig } from "../../transforms/live-config.ts";
import { addUrl, allowAll, html, PAGE, PAGE_ID, pageLease, runLease } from "./fetch/leases.ts";
import { crawlConfig, reports, urlRecord, world } from "./world.ts";

test("what is ordered comes before the crawl's own policies, replaces what was ordered earlier, and counts on in version", () => {
  const own = { host: "a.test", delayMs: 5_000 };
  const base = crawlConfig({ policies: [own], policyVersion: 4 });
  const live = liveConfig(base);
  assert.equal(live.now(), base);
  live.order({ version: 1, hosts: [{ host: "b.test", paused: true }] });
  live.order({ version: 2, hosts: [{ host: "a.test", paused: true }] });
  assert.deepEqual(live.now().policies, [{ host: "a.test", paused: true }, own]);
  assert.equal(live.now().policyVersion, 6);
  assert.equal(live.now(), live.now());
  assert.deepEqual(base.policies, [own]);
});

async function due() {
  const given = world({ site: { [PAGE]: html("<p>one</p>") } });
  await addUrl(given.services);
  await allowAll(given.services);
  return given;
}

test("a host that is paused while its lease is out is not asked", async () => {
  const given = await due();
  given.services.live.order({ version: 1, hosts: [{ host: "a.test", paused: true, agreed: false }] });
  await runLease(given, pageLease());
  const [report] = await reports(given);
  assert.deepEqual([report?.result, report?.fetched, given.web.connects], ["paused", false, []]);
});

test("a host that is paused while the connection is made is not asked either", async () => {
  const given = await due();
  const { http } = given.services;
  const services = {
    ...given.services,
    http: {
      ...http,
      connect: async (...args: Parameters<typeof http.connect>) => {
        const connection = await http.connect(...args);
        given.services.live.order({ version: 1, hosts: [{ host: "a.test", paused: true, agreed: false }] });
        return connection;
      },
    },
  };
  await runLease(given, pageLease(), services);
  const [report] = await reports(given);
  assert.deepEqual([report?.result, given.web.log], ["paused", []]);
});

for (const [order, outcome, days] of [
  [{ paused: true }, "held", 1 / 24],
  [{ excluded: true }, "excluded", 7],
] as const)
  test(`a URL of a pattern that is ordered ${outcome} completes without a request, and is judged again later`, async () => {
    const given = await due();
    given.services.live.order({ version: 1, hosts: [{ host: "*", pattern: "http://a.test/p*", ...order }] });
    await runLease(given, pageLease());
    const record = await urlRecord(given, "a.test", PAGE_ID);
    assert.deepEqual([record?.lastOutcome, given.web.connects], [outcome, []]);
    const waited = (record!.nextFetchAt - given.clock.now()) / 86_400_000;
    assert.ok(waited > 0.75 * days && waited <= days, `${waited} days`);
    assert.equal(given.events.of("fetch")[0]?.outcome, outcome);
  });
