import assert from "node:assert/strict";
import { test } from "node:test";
import { alternateIdentity, urlIdentity } from "../../core/url/keys.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import type { DiscoverMessage } from "../../schemas/messages.ts";
import { hostDueKey, rowKey } from "../../schemas/row-key.ts";
import { discover } from "../../transforms/discover.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import { bundle } from "./contexts.ts";
import { crawlConfig, dueEntries, dueFaults, START, urlRecord, world } from "./world.ts";

const message = (urls: string[], change: Partial<DiscoverMessage> = {}): DiscoverMessage => ({
  source: "link",
  depth: 1,
  hops: 0,
  kind: "page",
  urls,
  ...change,
});
const URLS = ["http://a.test/1", "http://a.test/2", "https://b.test/"];

/** One bundle of a new worker, or of `fn`. */
async function run(services: CrawlServices, messages: DiscoverMessage[], fn = discover.make(crawlConfig(), services)) {
  const context = bundle<typeof discover.outputs>();
  await fn.startBundle?.();
  for (const each of messages) await fn.process(each, context);
  await fn.finishBundle?.(context);
  return context.emitted.map(({ value }) => value);
}

test("what is seen for the first time stands in the record, in the due index and in HostDue, and its hosts are woken once each", async () => {
  const given = world();
  const wakes = await run(given.services, [message(URLS), message([URLS[0]!])]);
  assert.deepEqual(
    wakes,
    ["a.test", "b.test"].map((paceKey) => ({ key: paceKey, value: { kind: "wake", paceKey, at: START } })),
  );
  assert.equal((await dueEntries(given)).length, 3);
  assert.deepEqual(await dueFaults(given), []);
  const [a] = await given.services.tables.hostDue.get([hostDueKey("a.test", 4)]);
  assert.equal(a?.value.nextDueAt, START);
  assert.equal(given.metrics.total("gleaner_urls_discovered_total"), 3);
});

test("what was completed is left alone; what never was becomes due again under the same key", async () => {
  const given = world();
  await run(given.services, [message(URLS.slice(0, 2))]);
  const first = urlIdentity(URLS[0]!).urlId;
  const key = rowKey("a.test", first);
  const [row] = await given.services.tables.urls.get([key]);
  const done = { ...row!.value, version: 1, nextFetchAt: START + 500, priority: 2 };
  await given.services.tables.urls.compareAndSet(key, done, row!.rev);
  for (const entry of await given.services.tables.due.scan({ from: "", to: "~", limit: 9 }))
    await given.services.tables.due.delete([{ key: entry.key }]);
  await given.clock.run(START + 100);
  const wakes = await run(given.services, [message(URLS.slice(0, 2))]);
  assert.deepEqual(
    wakes.map(({ value }) => value.at),
    [START],
    "due since it was first seen",
  );
  const entries = await dueEntries(given);
  assert.deepEqual(
    entries.map(({ urlId }) => urlId),
    [urlIdentity(URLS[1]!).urlId],
  );
  assert.deepEqual(await urlRecord(given, "a.test", first), done);
});

test("a redirect target that is known already changes nothing and ends in no loop (H9)", async () => {
  const given = world();
  await run(given.services, [message(URLS)]);
  const before = await urlRecord(given, "b.test", urlIdentity(URLS[2]!).urlId);
  await run(given.services, [message([URLS[2]!], { source: "redirect", hops: 3 })]);
  assert.deepEqual(await urlRecord(given, "b.test", urlIdentity(URLS[2]!).urlId), before);
});

test("refusals are told once a bundle, by host, reason and source, with three samples", async () => {
  const given = world({ config: { scope: { mode: "host", hosts: ["a.test"], domains: ["a.test"], rules: [] } } });
  const fn = discover.make(given.config, given.services);
  const out = Array.from({ length: 5 }, (_, index) => `http://out.test/${index}`);
  await run(given.services, [message(out), message(["ftp://a.test/"])], fn);
  await run(given.services, [message(["http://out.test/"], { source: "redirect", depth: 0, hops: 1 })], fn);
  assert.deepEqual(given.events.of("skip"), [
    {
      at: START,
      hostKey: "http://out.test",
      reason: "scope",
      source: "link",
      count: 5,
      samples: out.slice(0, 3),
    },
    { at: START, hostKey: "", reason: "scheme", source: "link", count: 1, samples: ["ftp://a.test/"] },
    {
      at: START,
      hostKey: "http://out.test",
      reason: "scope",
      source: "seed-redirect",
      count: 1,
      samples: ["http://out.test/"],
    },
  ]);
  assert.equal(given.metrics.counter("gleaner_refusals_total", { reason: "scope" }), 6);
  assert.deepEqual(await dueEntries(given), []);
});

test("two URLs of one id are told apart: the second takes the other half of its hash", async () => {
  const given = world();
  const { urlId } = urlIdentity(URLS[0]!);
  const holder = { canonicalUrl: "http://a.test/holder", version: 1 };
  const record = {
    kind: "page",
    docVersion: 0,
    depth: 0,
    hops: 0,
    priority: 2,
    discoveredAt: 0,
    nextFetchAt: 9,
    failureCount: 0,
  } as const;
  await given.services.tables.urls.insertIfAbsent([{ key: rowKey("a.test", urlId), value: { ...record, ...holder } }]);
  for (let times = 0; times < 2; times++) await run(given.services, [message([URLS[0]!])]);
  assert.equal((await urlRecord(given, "a.test", urlId))?.canonicalUrl, "http://a.test/holder");
  const other = alternateIdentity(URLS[0]!);
  const found = await urlRecord(given, "a.test", other.urlId);
  assert.equal(found?.canonicalUrl, URLS[0]);
  assert.deepEqual(
    (await dueEntries(given)).map((entry) => entry.urlId),
    [other.urlId],
  );
});

test("a worker asks the stores once for what it has seen", async () => {
  const given = world();
  let asked = 0;
  const { urls } = given.services.tables;
  const counted: typeof urls.get = (keys) => {
    asked += keys.length;
    return urls.get(keys);
  };
  const tables = { ...given.services.tables, urls: { ...urls, get: counted } };
  const counting: CrawlServices = { ...given.services, tables };
  const fn = discover.make(crawlConfig(), counting);
  await run(counting, [message(URLS), message(URLS)], fn);
  await run(counting, [message([...URLS, "http://a.test/new"])], fn);
  assert.equal(asked, 4);
});

test("a worker that dies at any write loses nothing: the message comes again, and all is as if it had not", async () => {
  let deaths = 0;
  for (const when of ["before", "after"] as const)
    for (let write = 0; ; write++) {
      const given = world({ dies: { write, when } });
      const died = await run(given.services, [message(URLS), message(["http://a.test/3"])]).then(
        () => false,
        () => true,
      );
      if (!died) break;
      deaths++;
      await given.clock.run(START + 5_000);
      const wakes = await run(given.restarted, [message(URLS), message(["http://a.test/3"])]);
      const now = { ...given, services: given.restarted };
      assert.equal(wakes.length, 2, `dead ${when} write ${write}`);
      assert.deepEqual(await dueFaults(now), []);
      assert.equal((await dueEntries(now)).length, 4);
      for (const paceKey of ["a.test", "b.test"]) {
        const [due] = await given.restarted.tables.hostDue.get([hostDueKey(paceKey, 4)]);
        assert.ok(due !== undefined && due.value.nextDueAt <= START + 5_000);
      }
    }
  assert.ok(deaths >= 10, `${deaths} deaths`);
});

const FEW = { host: "a.test", limits: { urlsPerTemplate: 20, sampleOneIn: 1_000 } };
const numbered = (host: string, count: number) => Array.from({ length: count }, (_, index) => `http://${host}/item/${index}`);

test("a pattern that grows beyond its limit is paused, in its own host alone, and told with its reason", async () => {
  const given = world({ config: { policies: [FEW] } });
  await run(given.services, [
    message(numbered("a.test", 100)),
    message(numbered("b.test", 100)),
    message(["http://a.test/about"]),
  ]);
  const standing = await dueEntries(given);
  const of = (paceKey: string) => standing.filter((entry) => entry.paceKey === paceKey).length;
  assert.ok(of("a.test") >= 20 && of("a.test") <= 24, `${of("a.test")} of 20 and /about`);
  assert.equal(of("b.test"), 100);
  assert.notEqual(await urlRecord(given, "a.test", urlIdentity("http://a.test/about").urlId), undefined);
  const [skip] = given.events.of("skip");
  assert.deepEqual([skip?.reason, skip?.hostKey, skip?.samples.length], ["template-limit", "http://a.test", 3]);
  assert.equal(skip?.count, 101 - of("a.test"));
});

test("the count of a pattern outlives its worker, and a higher limit lets the pattern go on", async () => {
  const given = world({ config: { policies: [FEW] } });
  await run(given.services, [message(numbered("a.test", 100))]);
  const before = (await dueEntries(given)).length;
  await run(given.restarted, [message(["http://a.test/item/1000", "http://a.test/item/1001"])]);
  assert.equal((await dueEntries(given)).length, before);
  given.restarted.live.order({ version: 1, hosts: [{ host: "a.test", limits: { urlsPerTemplate: 2_000 } }] });
  await run(given.restarted, [message(["http://a.test/item/1000"])]);
  assert.equal((await dueEntries(given)).length, before + 1);
});

test("what somebody typed and what is listed as a sitemap is no series", async () => {
  const given = world({ config: { policies: [FEW] } });
  await run(given.services, [message(numbered("a.test", 50), { source: "seed", depth: 0 })]);
  assert.equal((await dueEntries(given)).length, 50);
});

test("parameter rules of a host spell its URLs anew, and the raw one is kept", async () => {
  const given = world({ config: { policies: [{ host: "a.test", parameterRules: ["tracking-parameters"] }] } });
  await run(given.services, [
    message(["http://a.test/p?utm_source=x&id=1", "http://a.test/p?id=1", "http://b.test/p?utm_source=x"]),
  ]);
  const record = await urlRecord(given, "a.test", urlIdentity("http://a.test/p?id=1").urlId);
  assert.equal(record?.foundAs, "http://a.test/p?utm_source=x&id=1");
  assert.equal((await dueEntries(given)).length, 2);
  assert.notEqual(await urlRecord(given, "b.test", urlIdentity("http://b.test/p?utm_source=x").urlId), undefined);
});

test("an excluded pattern gets no records, and the rest of its host does", async () => {
  const given = world({ config: { policies: [{ host: "a.test", pattern: "http://a.test/private/**", excluded: true }] } });
  await run(given.services, [message(["http://a.test/private/1", "http://a.test/1"])]);
  assert.equal((await dueEntries(given)).length, 1);
  assert.deepEqual(
    given.events.of("skip").map(({ reason }) => reason),
    ["excluded"],
  );
});

/** All of them side by side, as the embedded engine gives them. */
async function runAtOnce(services: CrawlServices, messages: DiscoverMessage[]) {
  const fn = discover.make(crawlConfig(), services);
  const context = bundle<typeof discover.outputs>();
  await fn.startBundle?.();
  const ends = await Promise.allSettled(messages.map((each) => fn.process(each, context)));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  await fn.finishBundle?.(context);
}

test("messages that are given side by side are looked up, judged and written by one call each", async () => {
  const given = world();
  const calls: Record<string, number> = {};
  const counted = <T extends object>(name: string, table: T): T =>
    Object.fromEntries(
      Object.entries(table).map(([operation, work]) => [
        operation,
        (...args: unknown[]) => {
          calls[`${name}.${operation}`] = (calls[`${name}.${operation}`] ?? 0) + 1;
          return work(...args);
        },
      ]),
    ) as T;
  const { tables } = given.services;
  const watched = { ...tables };
  for (const name of ["urls", "due", "templates"] as const) Object.assign(watched, { [name]: counted(name, tables[name]) });
  const services = { ...given.services, tables: watched };
  await runAtOnce(
    services,
    Array.from({ length: 20 }, (_, index) => message([`http://a.test/${index}`, "http://a.test/everywhere"])),
  );
  assert.deepEqual(calls, {
    "urls.get": 1,
    "urls.insertIfAbsent": 1,
    "due.put": 1,
    "templates.get": 1,
    "templates.insertIfAbsent": 1,
  });
  assert.equal((await dueEntries(given)).length, 21);
});

test("a URL that is a seed and a link of one bundle is taken as the seed, whatever its pattern has", async () => {
  const given = world({ config: { policies: [{ host: "a.test", limits: { urlsPerTemplate: 1, sampleOneIn: 1e9 } }] } });
  const urls = Array.from({ length: 5 }, (_, index) => `http://a.test/item/${index}`);
  await runAtOnce(given.services, [message(urls), message([urls[4]!], { source: "seed", depth: 0 })]);
  assert.equal((await urlRecord(given, "a.test", urlIdentity(urls[4]!).urlId))?.depth, 0);
});

test("what a bundle that failed left standing is counted when it runs again: its pattern gets no more than its limit", async () => {
  const most = 30;
  const given = world({ config: { policies: [{ host: "a.test", limits: { urlsPerTemplate: most, sampleOneIn: 1e9 } }] } });
  const { tables } = given.services;
  let refusals = 0;
  const failing = {
    ...given.services,
    tables: {
      ...tables,
      templates: {
        ...tables.templates,
        async insertIfAbsent(rows: Parameters<typeof tables.templates.insertIfAbsent>[0]) {
          if (refusals++ < 5) throw new StoreError("away");
          return tables.templates.insertIfAbsent(rows);
        },
      },
    },
  };
  for (let bundleOf = 0; bundleOf < 6; bundleOf++) {
    // Each try has found more than the one before.
    const urls = Array.from({ length: 12 * (bundleOf + 1) }, (_, index) => `http://a.test/item/${index}`);
    await runAtOnce(failing, [message(urls.reverse())]).catch(() => undefined);
  }
  assert.ok(refusals > 5);
  const records = (await tables.urls.scan({ from: "", to: "~", limit: 1_000 })).length;
  assert.ok(records <= most + 5, `${records} records`);
  assert.ok(records >= most - 5, `${records} records`);
});

test("a URL that has stood for long, and whose bundle cannot have failed just now, is not counted anew", async () => {
  const given = world();
  await run(given.services, [message(URLS, { source: "seed" })]);
  await given.clock.run(START + 2 * 3_600_000);
  await run(given.services, [message(URLS)]);
  assert.deepEqual(await given.services.tables.templates.scan({ from: "", to: "~", limit: 9 }), []);
});
