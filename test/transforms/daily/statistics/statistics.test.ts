// Do a day's events and records come to the tables that were worked out by hand, however often an event came?
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { newHost } from "../../../../core/politeness/host-clock.ts";
import { templateRowKey } from "../../../../core/traps/template.ts";
import { counted, newTemplateCount } from "../../../../core/traps/template-verdict.ts";
import { statisticsPhase } from "../../../../pipelines/daily/statistics.ts";
import { tableFolder } from "../../../../schemas/daily/day-table.ts";
import {
  type CrawlRow,
  crawlStatistics,
  type HostStatisticsRow,
  hostStatistics,
  type RefusalRow,
  refusalStatistics,
  type StatusRow,
  statusStatistics,
  type TrapRow,
  trapStatistics,
} from "../../../../schemas/daily/statistics.ts";
import type { FetchEvent, IndexEvent, SkipEvent } from "../../../../schemas/events.ts";
import { duckdbColumns } from "../../../../schemas/tables/duckdb-columns.ts";
import {
  countDocument,
  countDuplicates,
  countFetch,
  countRefusals,
  dayGaps,
} from "../../../../transforms/daily/statistics/count-events.ts";
import { eventFiles, readEvents } from "../../../../transforms/daily/statistics/read-events.ts";
import { readGaps, writeTraps } from "../../../../transforms/daily/statistics/read-records.ts";
import { crawlRows, hostRows, writeHosts } from "../../../../transforms/daily/statistics/rows.ts";
import { refusalOf, sumCrawl, sumHost, sumRefusal } from "../../../../transforms/daily/statistics/sums.ts";
import { AS_OF, DAY, type GivenCrawl, givenCrawl, runPhase, tableRows } from "../given.ts";

const NOON = AS_OF - 43_200_000;
let leases = 0;
const fetch = (host: string, changes: Partial<FetchEvent>): FetchEvent => ({
  ...{ at: NOON, url: `http://${host}/`, urlId: "u", hostKey: `http://${host}`, paceKey: host, kind: "page" },
  ...{ leaseId: `lease-${leases++}`, version: 0, outcome: "fetched", status: 200 },
  ...changes,
});

/** Without a status, as there was no answer. */
function unanswered(host: string, changes: Partial<FetchEvent>): FetchEvent {
  const { status: _, ...event } = fetch(host, changes);
  return event;
}

async function write(crawl: GivenCrawl, kind: string, lines: readonly (object | string)[], day = DAY): Promise<void> {
  const folder = join(crawl.folder, "events", kind, `dt=${day}`);
  await mkdir(folder, { recursive: true });
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  await writeFile(join(folder, `part-${leases++}.ndjson`), `${text}\n`);
}

const twice = fetch("a.test", { wireBytes: 100, bodyBytes: 300, latencyMs: 50, contentHash: "aa", dueAt: NOON, priority: 0 });
const fetches = [
  twice,
  fetch("a.test", {
    at: NOON + 5_000,
    wireBytes: 20,
    bodyBytes: 20,
    latencyMs: 150,
    contentHash: "aa",
    dueAt: NOON - 700_000,
    priority: 1,
  }),
  fetch("a.test", { at: NOON + 9_000, kind: "robots", latencyMs: 100 }),
  fetch("b.test", { outcome: "server-error", status: 503, contentHash: "aa" }),
  unanswered("b.test", { outcome: "failed", reason: "timeout" }),
  unanswered("c.test", { outcome: "robots" }),
  fetch("d.test", { contentHash: "bb", wireBytes: 7 }),
];
const document = (urlId: string, op: "upsert" | "delete"): IndexEvent => ({
  at: NOON,
  urlId,
  docVersion: 1,
  op,
  url: "http://a.test/",
});
const skip = (reason: string, count: number, samples: string[], source?: string): SkipEvent => ({
  ...{ at: NOON, hostKey: "http://a.test", reason, count, samples },
  ...(source === undefined ? {} : { source }),
});

async function given(context: Parameters<typeof givenCrawl>[0]): Promise<GivenCrawl> {
  const crawl = await givenCrawl(context, { policies: [{ host: "a.test", limits: { urlsPerQueryTemplate: 10 } }] });
  await write(crawl, "fetch", [...fetches, "{ not json", '{"at":1}']);
  await write(crawl, "fetch", [twice, twice]);
  await write(crawl, "fetch", [fetch("e.test", {})], "2026-11-29");
  await write(crawl, "index", [
    document("u1", "upsert"),
    document("u2", "upsert"),
    document("u3", "delete"),
    document("u1", "upsert"),
  ]);
  await write(crawl, "skip", [
    skip("depth", 5, ["http://a.test/3", "http://a.test/1"], "link"),
    skip("depth", 2, ["http://a.test/2"], "link"),
  ]);
  await write(crawl, "skip", [skip("scope", 1, [])]);
  await crawl.putHost("a.test", { ...newHost(1), smallestGap: { gapMs: 1003, allowedMs: 1000 } });
  await crawl.putHost("z.test", { ...newHost(1), smallestGap: { gapMs: 1, allowedMs: 1000 } });
  let trap = newTemplateCount("http://a.test", "/?page=");
  for (let at = 0; at < 40; at++) trap = counted(trap, `${at}`.padStart(22, "x"), `http://a.test/?page=${at}`);
  for (const value of [{ ...trap, pausedAt: NOON }, newTemplateCount("http://a.test", "/{word}")])
    await crawl.services.tables.templates.insertIfAbsent([{ key: templateRowKey(value), value }]);
  await runPhase(crawl.services, statisticsPhase);
  return crawl;
}

test("each host has its row, with sums worked out by hand", async (context) => {
  const { services } = await given(context);
  const rows = await tableRows<HostStatisticsRow>(services.files, hostStatistics);
  const byHost = Object.fromEntries(rows.map((row) => [row.paceKey, row]));
  assert.deepEqual(Object.keys(byHost).sort(), ["a.test", "b.test", "c.test", "d.test"]);
  const { latencyP95Ms, ...a } = byHost["a.test"]!;
  assert.deepEqual(a, {
    ...{ paceKey: "a.test", requests: 3, robots: 1, fetched: 3, unchanged: 0, redirects: 0, gone: 0, clientErrors: 0 },
    ...{ serverErrors: 0, throttled: 0, failed: 0, refused: 0, wireBytes: 120, bodyBytes: 320 },
    ...{ dueUrgent: 2, dueUrgentInTime: 1, latencyMeanMs: 100, dayGapMs: 3_850, gapMs: 1003, gapOwedMs: 1000, violations: 0 },
  });
  assert.ok(latencyP95Ms! >= 150 && latencyP95Ms! <= 180);
  const b = byHost["b.test"]!;
  assert.deepEqual([b.requests, b.serverErrors, b.failed, b.latencyMeanMs], [2, 1, 1, undefined]);
  assert.deepEqual([byHost["c.test"]!.requests, byHost["c.test"]!.refused], [0, 1]);
});

test("the crawl has one row: doubles count once, bodies that others have are duplicates, bad lines are told", async (context) => {
  const { services } = await given(context);
  const [row, ...more] = await tableRows<CrawlRow>(services.files, crawlStatistics);
  assert.deepEqual(more, []);
  const { hosts, requests, refused, duplicates, documentsChanged, documentsGone, eventsTwice, linesBad, violations } = row!;
  assert.deepEqual([hosts, requests, refused, duplicates], [4, 6, 1, 1]);
  assert.deepEqual([documentsChanged, documentsGone, eventsTwice, linesBad, violations], [2, 1, 3, 2, 0]);
  assert.deepEqual([row!.dueUrgent, row!.dueUrgentInTime, row!.wireBytes], [2, 1, 127]);
});

test("statuses, refusals and traps are told with counts and samples, in an order of their own", async (context) => {
  const { services } = await given(context);
  const statuses = await tableRows<StatusRow>(services.files, statusStatistics);
  assert.deepEqual(
    statuses.map(({ outcome, status, count }) => `${outcome} ${status ?? "-"} ${count}`),
    ["failed - 1", "fetched 200 4", "robots - 1", "server-error 503 1"],
  );
  assert.deepEqual(await tableRows<RefusalRow>(services.files, refusalStatistics), [
    { reason: "depth", source: "link", count: 7, samples: ["http://a.test/1", "http://a.test/2", "http://a.test/3"] },
    { reason: "scope", count: 1, samples: [] },
  ]);
  const [trap, ...more] = await tableRows<TrapRow>(services.files, trapStatistics);
  assert.deepEqual([trap!.template, trap!.pausedAt, trap!.samples.length, more.length], ["/?page=", NOON, 3, 0]);
  assert.ok(trap!.urls >= 30 && trap!.urls <= 50);
});

test("DuckDB loads a table by the columns that stand beside it, and adds up the same", async (context) => {
  const { services, folder } = await given(context);
  const place = tableFolder(DAY, hostStatistics);
  let columns = "";
  for await (const [line] of services.files.lines(`${place}/schema.json`)) columns = duckdbColumns(JSON.parse(line!));
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const from = `read_json('${join(folder, place)}/part-*.ndjson.gz', columns = ${columns}, format = 'newline_delimited')`;
  const reader = await connection.runAndReadAll(
    `SELECT count(*)::INT, sum(requests)::INT, sum("wireBytes")::INT, max("gapMs")::INT FROM ${from}`,
  );
  assert.deepEqual(reader.getRows(), [[4, 6, 127, 1003]]);
  connection.closeSync();
  instance.closeSync();
});

test("the hops of a robots.txt share a lease and are each counted, in whatever order they stand", async (context) => {
  const hop = (host: string, changes: Partial<FetchEvent>) =>
    fetch(host, { leaseId: "shared", kind: "robots", url: `http://${host}/robots.txt`, ...changes });
  const hops = [hop("a.test", { outcome: "redirect", status: 301 }), hop("b.test", {}), hop("b.test", { at: NOON + 5 })];
  const told: HostStatisticsRow[][] = [];
  for (const lines of [hops, hops.toReversed()]) {
    const crawl = await givenCrawl(context);
    await write(crawl, "fetch", lines);
    await runPhase(crawl.services, statisticsPhase);
    const [{ requests, robots, eventsTwice } = assert.fail("no row")] = await tableRows<CrawlRow>(
      crawl.services.files,
      crawlStatistics,
    );
    assert.deepEqual([requests, robots, eventsTwice], [2, 2, 1]);
    told.push(await tableRows<HostStatisticsRow>(crawl.services.files, hostStatistics));
  }
  assert.deepEqual(told[0]!.map(({ paceKey, redirects, fetched }) => `${paceKey} ${redirects} ${fetched}`).sort(), [
    "a.test 1 0",
    "b.test 0 1",
  ]);
  assert.deepEqual(told[1], told[0]);
});

test("a host of which a page was given up has its row", async (context) => {
  const crawl = await givenCrawl(context);
  await write(crawl, "fetch", [unanswered("p.test", { outcome: "poisoned" })]);
  await runPhase(crawl.services, statisticsPhase);
  const rows = await tableRows<HostStatisticsRow>(crawl.services.files, hostStatistics);
  assert.deepEqual(
    rows.map(({ paceKey, failed }) => [paceKey, failed]),
    [["p.test", 1]],
  );
});

test("a day without events has all its tables, with nothing in them", async (context) => {
  const crawl = await givenCrawl(context);
  await runPhase(crawl.services, statisticsPhase);
  for (const table of [hostStatistics, statusStatistics, refusalStatistics, trapStatistics, crawlStatistics])
    assert.deepEqual(await tableRows(crawl.services.files, table), []);
});

test("refusals are summed in any order to the same, and each step has a name of its own", () => {
  const parts = [skip("depth", 1, ["c"]), skip("depth", 2, ["a", "d"]), skip("depth", 3, ["b"])].map(refusalOf);
  const forth = parts.reduce(sumRefusal.add, sumRefusal.create());
  assert.deepEqual(parts.toReversed().reduce(sumRefusal.merge, sumRefusal.create()), forth);
  assert.deepEqual(forth.samples, ["a", "b", "c"]);
  const steps = [
    ...[eventFiles, readEvents, countFetch, countDocument, countRefusals, countDuplicates, dayGaps],
    ...[readGaps, writeTraps, hostRows, crawlRows, writeHosts, sumHost, sumCrawl],
  ];
  assert.equal(new Set(steps.map(({ name }) => name)).size, steps.length);
});
