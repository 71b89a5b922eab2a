import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../../../ports/versioned-table.ts";
import { limits } from "../../../schemas/limits.ts";
import type { RobotsState } from "../../../schemas/robots-state.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import { judgeView } from "../../../transforms/robots-reader.ts";
import { flight, host } from "../../core/politeness/given.ts";
import type { Reply, Site } from "../fake-web.ts";
import { type Death, discoveries, hostRecord, reports, START, type WorldOptions, world } from "../world.ts";
import { HOST_KEY, PAGE, robotsLease, runLease, type World } from "./leases.ts";

const DAY = 86_400_000;
const ROBOTS = "http://a.test/robots.txt";
const text = (body: string, headers: Record<string, string> = {}): Reply => ({
  status: 200,
  headers: { "content-type": "text/plain", ...headers },
  body,
  tookMs: 50,
});
const to = (location: string): Reply => ({ status: 301, headers: { location } });

async function robots(given: World, paceKey = "a.test", hostKey = HOST_KEY) {
  const [view] = await given.services.robots.read(paceKey, [hostKey]);
  const verdict = judgeView(view, PAGE.replace(HOST_KEY, hostKey), given.clock.now()).verdict;
  return { state: view?.state, verdict };
}

async function asked(site: Site, options: WorldOptions = {}) {
  const given = world({ ...options, site });
  const again = await runLease(given, robotsLease());
  const [report] = await reports(given);
  return { given, again, report, ...(await robots(given)) };
}

const table: [situation: string, reply: Reply, status: RobotsState["status"], verdict: string, fetched: boolean][] = [
  ["rules", text("User-agent: *\nDisallow: /page\n"), "rules", "disallow", true],
  ["404", { status: 404 }, "allow-all", "allow", true],
  ["403", { status: 403 }, "allow-all", "allow", true],
  ["500", { status: 500 }, "unreachable", "unreachable", true],
  ["429 (R27)", { status: 429, headers: { "retry-after": "60" } }, "deferred", "deferred", true],
  ["no answer (R1)", { sendFails: "timeout" }, "unreachable", "unreachable", true],
  ["no connection (R1)", { connectFails: "connect" }, "unreachable", "unreachable", false],
  ["a body that breaks off", { status: 200, bodyFails: "body-reset" }, "unreachable", "unreachable", true],
  ["a redirect to another scheme", to("ftp://a.test/robots.txt"), "unreachable", "unreachable", true],
];
for (const [situation, reply, status, verdict, fetched] of table)
  test(`robots.txt: ${situation}: ${status}`, async () => {
    const result = await asked({ [ROBOTS]: reply });
    assert.deepEqual([result.state?.status, result.verdict, result.report?.fetched], [status, verdict, fetched]);
    assert.deepEqual((await hostRecord(result.given, "a.test"))?.inFlight, []);
    assert.equal(result.given.web.log.length, fetched ? 1 : 0);
    assert.equal(result.given.events.of("fetch").length, 1);
  });

test("a file beyond the limit: the rules within it are in force, and of the line that the limit cuts nothing is", async () => {
  const rules = "User-agent: *\nDisallow: /page\n";
  const filler = `#${"-".repeat(limits.robotsBytes - rules.length - "#\nDisallow: /".length)}\n`;
  const { given, state, verdict } = await asked({
    [ROBOTS]: text(`${rules}${filler}Disallow: /cut-here\nDisallow: /beyond\n`),
  });
  assert.deepEqual([state?.status, verdict], ["rules", "disallow"]);
  const [view] = await given.services.robots.read("a.test", [HOST_KEY]);
  assert.deepEqual(
    view?.rules?.rules.map(({ pattern }) => pattern),
    ["/page"],
    "/cut-here shortened to / would forbid the whole host",
  );
  assert.deepEqual(
    given.events.of("fetch").map(({ outcome, reason }) => [outcome, reason]),
    [["fetched", "decoded-bytes"]],
  );
});

test("another lease was faster: nothing is asked again", async () => {
  const given = world({ site: { [ROBOTS]: text("") } });
  await runLease(given, robotsLease());
  await given.clock.run(START + 5_000);
  await runLease(given, robotsLease({ leaseId: "robots-2" }));
  assert.equal(given.web.log.length, 1);
  assert.deepEqual(
    (await reports(given)).map(({ result }) => result),
    ["fetched", "stale"],
  );
});

test("a Crawl-delay is the host's before its rules are, and before another request can be admitted (R19)", async () => {
  const site = { [ROBOTS]: text("User-agent: *\nCrawl-delay: 600\n") };
  for (const when of ["before", "after"] as const)
    for (let write = 0; ; write++) {
      const given = world({ site, dies: { write, when } satisfies Death });
      await runLease(given, robotsLease());
      const live = { ...given, services: given.restarted };
      const { verdict } = await robots(live);
      const record = await hostRecord(live, "a.test");
      if (verdict === "allow") assert.equal(record?.crawlDelayMs, 600_000, `killed ${when} write ${write}`);
      if (given.process.writes <= write) break;
    }
});

test("a Crawl-delay that is gone, or smaller, no longer counts; that of the other host key does", async () => {
  const given = world({ site: { [ROBOTS]: text("User-agent: *\nCrawl-delay: 5\n") } });
  await given.services.tables.hosts.insertIfAbsent([{ key: rowKey("a.test"), value: host({ crawlDelayMs: 90_000 }) }]);
  await runLease(given, robotsLease());
  assert.equal((await hostRecord(given, "a.test"))?.crawlDelayMs, 5_000);
  const other = { status: "rules" as const, fetchedAt: 5, expiresAt: START + DAY, crawlDelayMs: 20_000 };
  await given.services.tables.robots.insertIfAbsent([{ key: rowKey("a.test", "https://a.test"), value: other }]);
  given.web.site[ROBOTS] = text("");
  await given.clock.run(START + 2 * DAY);
  const notBefore = given.clock.now();
  await runLease(given, robotsLease({ notBefore, startBy: notBefore + 10_000 }));
  assert.equal((await hostRecord(given, "a.test"))?.crawlDelayMs, 20_000);
});

test("a redirect to another host: each hop on its own host's clock, the rules kept for both", async () => {
  const { given, state, verdict } = await asked({
    [ROBOTS]: to("http://b.test/robots.txt"),
    "http://b.test/robots.txt": text("User-agent: *\nDisallow: /page\nCrawl-delay: 7\n"),
  });
  assert.deepEqual(
    given.web.log.map(({ url }) => url),
    [ROBOTS, "http://b.test/robots.txt"],
  );
  assert.deepEqual([state?.target, verdict], ["http://b.test/robots.txt", "disallow"]);
  const target = await robots(given, "b.test", "http://b.test");
  assert.deepEqual([target.state?.status, target.state?.target, target.verdict], ["rules", undefined, "disallow"]);
  for (const paceKey of ["a.test", "b.test"]) {
    const record = await hostRecord(given, paceKey);
    assert.deepEqual([record?.crawlDelayMs, record?.inFlight.length], [7_000, 0], paceKey);
    assert.ok(record!.lastAnsweredAt > 0);
  }
  assert.deepEqual(
    given.events.of("fetch").map(({ paceKey, outcome }) => [paceKey, outcome]),
    [
      ["a.test", "redirect"],
      ["b.test", "fetched"],
    ],
  );
});

test("a target whose rules are known already is not asked for them", async () => {
  const given = world({ site: { [ROBOTS]: to("http://b.test/robots.txt") } });
  const known = {
    status: "rules" as const,
    fetchedAt: START - 5,
    expiresAt: START + 9_000,
    body: Buffer.from("User-agent: *\nDisallow: /page\n"),
    crawlDelayMs: 3_000,
  };
  await given.services.tables.robots.insertIfAbsent([{ key: rowKey("b.test", "http://b.test"), value: known }]);
  await runLease(given, robotsLease());
  assert.equal(given.web.log.length, 1);
  const { state, verdict } = await robots(given);
  assert.deepEqual([state?.expiresAt, verdict], [START + 9_000, "disallow"]);
  assert.equal((await hostRecord(given, "a.test"))?.crawlDelayMs, 3_000);
});

test("a target whose clock refuses is asked when it allows; until then nothing is allowed and nothing forbidden", async () => {
  const given = world({
    site: { [ROBOTS]: to("http://b.test/robots.txt"), "http://b.test/robots.txt": text("User-agent: *\nDisallow: /page\n") },
  });
  await given.services.tables.hosts.insertIfAbsent([{ key: rowKey("b.test"), value: host({ backoffUntil: START + 60_000 }) }]);
  await runLease(given, robotsLease());
  const put = await robots(given);
  assert.deepEqual([put.state?.status, put.state?.expiresAt, put.verdict], ["redirecting", START + 60_000, "deferred"]);
  assert.deepEqual(given.web.connects, [ROBOTS], "nor is it connected to");
  await given.clock.run(START + 60_001);
  const notBefore = given.clock.now();
  await runLease(given, robotsLease({ leaseId: "robots-2", notBefore, startBy: notBefore + 10_000 }));
  assert.deepEqual(
    given.web.log.map(({ url }) => url),
    [ROBOTS, "http://b.test/robots.txt"],
    "the chain goes on where it stood",
  );
  assert.equal((await robots(given)).verdict, "disallow");
});

test("a target that is busy for a moment is asked a moment later, not when its entry would expire", async () => {
  const given = world({ site: { [ROBOTS]: to("http://b.test/robots.txt") } });
  const inFlight = [flight({ expiresAt: START + 35_000 })];
  await given.services.tables.hosts.insertIfAbsent([{ key: rowKey("b.test"), value: host({ inFlight }) }]);
  await runLease(given, robotsLease());
  assert.equal((await robots(given)).state?.expiresAt, START + 1_000);
});

test("a target that is paused is left alone for a while, not asked again every second", async () => {
  const policies = [{ host: "b.test", paused: true }];
  const { given, state } = await asked({ [ROBOTS]: to("http://b.test/robots.txt") }, { config: { policies } });
  assert.deepEqual(given.web.connects, [ROBOTS]);
  assert.deepEqual([state?.status, state?.expiresAt], ["redirecting", START + 15_000]);
});

test("a redirect on the same clock waits for it: the lease asks to run again, and goes on from the target", async () => {
  const { given, again } = await asked({
    [ROBOTS]: to("https://a.test/robots.txt"),
    "https://a.test/robots.txt": text("User-agent: *\nDisallow: /page\n"),
  });
  assert.equal(given.web.log.length, 1);
  assert.ok(again !== undefined && again >= START + 1_000);
  await given.clock.run(again);
  await runLease(given, robotsLease());
  assert.deepEqual(
    given.web.log.map(({ url }) => url),
    [ROBOTS, "https://a.test/robots.txt"],
  );
  assert.ok(given.web.log[1]!.at >= given.web.log[0]!.answeredAt + 1_000);
  for (const hostKey of ["http://a.test", "https://a.test"])
    assert.equal((await robots(given, "a.test", hostKey)).verdict, "disallow", hostKey);
});

test("a chain without end is unreachable after five hops; one to a refused address is no permission (R3)", async () => {
  const site: Site = { [ROBOTS]: to("http://h1.test/robots.txt") };
  for (let hop = 1; hop < 10; hop++) site[`http://h${hop}.test/robots.txt`] = to(`http://h${hop + 1}.test/robots.txt`);
  const endless = await asked(site);
  assert.equal(endless.given.web.log.length, 6);
  assert.deepEqual([endless.state?.status, endless.state?.reason], ["unreachable", "redirect-hops"]);
  const inside = await asked({
    [ROBOTS]: to("http://169.254.169.254/x"),
    "http://169.254.169.254/x": { connectFails: "address" },
  });
  assert.deepEqual([inside.state?.status, inside.verdict], ["unreachable", "unreachable"]);
});

const sitemaps = { config: { sitemaps: true } };

test("the sitemaps that robots.txt names are discovered, relative ones too (S15), else the usual place", async () => {
  const named = await asked({ [ROBOTS]: text("Sitemap: /s.xml\nSitemap: https://b.test/t.xml\nUser-agent: *\n") }, sitemaps);
  assert.deepEqual(
    (await discoveries(named.given)).map(({ source, kind, depth, urls }) => [source, kind, depth, urls]),
    [["sitemap", "sitemap", 0, ["http://a.test/s.xml", "https://b.test/t.xml"]]],
  );
  const usual = await asked({ [ROBOTS]: { status: 404 } }, sitemaps);
  assert.deepEqual(
    (await discoveries(usual.given)).flatMap(({ urls }) => urls),
    ["http://a.test/sitemap.xml"],
  );
  const unreachable = await asked({ [ROBOTS]: { status: 500 } }, sitemaps);
  assert.deepEqual(await discoveries(unreachable.given), []);
  const unwanted = await asked({ [ROBOTS]: text("Sitemap: /s.xml\n") });
  assert.deepEqual(await discoveries(unwanted.given), []);
});

test("a worker killed at any write: where the rules stand, their sitemaps are discovered", async () => {
  let deaths = 0;
  for (const when of ["before", "after"] as const)
    for (let write = 0; ; write++) {
      const given = world({ ...sitemaps, site: { [ROBOTS]: text("Sitemap: /s.xml\n") }, dies: { write, when } });
      await runLease(given, robotsLease());
      const live = { ...given, services: given.restarted };
      const stands = (await robots(live)).verdict === "allow";
      if (stands) assert.equal((await discoveries(live)).length, 1, `killed ${when} write ${write}`);
      if (given.process.writes <= write) break;
      deaths++;
    }
  assert.ok(deaths >= 8, `${deaths} deaths`);
});

test("rules that the store refuses do not take what the host said of its rest with them", async () => {
  const given = world({ site: { [ROBOTS]: { status: 429, headers: { "retry-after": "120" } } } });
  const { robots: table } = given.services.tables;
  const refusing = { ...table, insertIfAbsent: async () => Promise.reject(new StoreError("away")) };
  const services = { ...given.services, tables: { ...given.services.tables, robots: refusing } };
  await runLease(given, robotsLease(), services);
  const record = await hostRecord(given, "a.test");
  assert.deepEqual(record?.inFlight, []);
  assert.ok(record!.backoffUntil >= START + 120_000);
});
