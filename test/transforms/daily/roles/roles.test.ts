// Do near-duplicates end as rows in the order of the records, and as roles in the records, also when the day after says otherwise?
import assert from "node:assert/strict";
import { test } from "node:test";
import { clustersPhase, rolesPhase } from "../../../../pipelines/daily/clusters.ts";
import {
  type ClusterCount,
  clusterReport,
  clusterRolesNoted,
  type RolesNoted,
} from "../../../../schemas/daily/cluster-tables.ts";
import { type ClusterTableRow, clusterTable } from "../../../../schemas/daily/clusters.ts";
import { keyRanges, rowKey } from "../../../../schemas/row-key.ts";
import { openTables } from "../../../../transforms/daily/open-tables.ts";
import { readDocuments } from "../../../../transforms/daily/roles/documents.ts";
import { noteRoles } from "../../../../transforms/daily/roles/note-roles.ts";
import { byRange, compareKeys, writeClusters } from "../../../../transforms/daily/roles/write-clusters.ts";
import { bundle } from "../../contexts.ts";
import { AS_OF, CONFIG, DAY_MS, type GivenCrawl, givenCrawl, placeOf, runPhase, tableRows } from "../given.ts";

const hash = (text: string): Buffer => Buffer.from(text, "hex");
const pages = [
  { url: "http://a.test/first", simHash: hash("00ff00ff00ff00ff"), quality: 80, discoveredAt: AS_OF - 9 * DAY_MS },
  { url: "http://b.test/copy", simHash: hash("00ff00ff00ff00ff"), quality: 40 },
  { url: "http://c.test/near", simHash: hash("00ff00ff00ff00fc"), quality: 40 },
  { url: "http://c.test/alone", simHash: hash("f0f0aaaa12345678"), quality: 40 },
  { url: "http://d.test/unindexed", simHash: hash("00ff00ff00ff00ff"), indexed: false },
];

async function clustered(context: Parameters<typeof givenCrawl>[0]): Promise<GivenCrawl> {
  const crawl = await givenCrawl(context);
  await crawl.put(...pages);
  await runPhase(crawl.services, clustersPhase);
  return crawl;
}

const roleOf = async (crawl: GivenCrawl, url: string) => (await crawl.record(url))?.cluster?.role;

test("copies and near-duplicates get rows, in the order of the record's keys, and are counted", async (context) => {
  const crawl = await clustered(context);
  const rows = await tableRows<ClusterTableRow>(crawl.services.files, clusterTable);
  const keys = rows.map(({ paceKey, urlId }) => rowKey(paceKey, urlId));
  assert.deepEqual(keys, [...keys].sort(compareKeys));
  const roles = Object.fromEntries(rows.map(({ paceKey, role, distance, size }) => [paceKey, [role, distance, size]]));
  assert.deepEqual(roles, { "a.test": ["representative", 0, 3], "b.test": ["copy", 0, 3], "c.test": ["near", 2, 3] });
  const meaning = rows.map(({ role, indexPriority, storageClass }) => `${role} ${indexPriority} ${storageClass}`).sort();
  assert.deepEqual(meaning, ["copy 0 nearline", "near 25 standard", "representative 100 standard"]);
  assert.ok(rows.every(({ representative }) => representative === placeOf(pages[0]!.url).urlId));
  const counts = await tableRows<ClusterCount>(crawl.services.files, clusterReport);
  const counted = Object.fromEntries(counts.map(({ name, count }) => [name, count]));
  assert.deepEqual([counted.documents, counted.clusters, counted.copies, counted.nearDuplicates], [4, 1, 1, 1]);
});

test("records learn their role, twice is as once, and a page that stands alone later is told so", async (context) => {
  const crawl = await clustered(context);
  await runPhase(crawl.services, rolesPhase);
  const noted = await tableRows<RolesNoted>(crawl.services.files, clusterRolesNoted);
  assert.equal(
    noted.reduce((sum, row) => sum + row.noted, 0),
    3,
  );
  const roles = await Promise.all(pages.map(({ url }) => roleOf(crawl, url)));
  assert.deepEqual(roles, ["representative", "copy", "near", undefined, undefined]);
  await runPhase(crawl.services, rolesPhase);
  assert.deepEqual(await tableRows<RolesNoted>(crawl.services.files, clusterRolesNoted), noted);

  const { urls } = crawl.services.tables;
  const { paceKey, urlId } = placeOf("http://c.test/near");
  const [row] = await urls.get([rowKey(paceKey, urlId)]);
  await urls.compareAndSet(rowKey(paceKey, urlId), { ...row!.value, simHash: hash("aaaa5555aaaa5555") }, row!.rev);
  const next = { day: "2026-12-01", asOf: AS_OF + DAY_MS };
  await runPhase(crawl.services, clustersPhase, next);
  await runPhase(crawl.services, rolesPhase, next);
  assert.deepEqual(await Promise.all(pages.slice(0, 3).map(({ url }) => roleOf(crawl, url))), [
    "representative",
    "copy",
    undefined,
  ]);
  assert.deepEqual((await crawl.record("http://c.test/near"))?.changeHistory, row!.value.changeHistory);
});

test("a record that is written in between keeps what it says", async (context) => {
  const crawl = await clustered(context);
  const { urls } = crawl.services.tables;
  const range = keyRanges.find(({ from, to }) => from <= rowKey("b.test") && rowKey("b.test") < to)!;
  const racing = { ...urls, compareAndSet: async () => undefined };
  const emitted = bundle<{ parts: never }>();
  const services = { ...crawl.services, tables: { ...crawl.services.tables, urls: racing } };
  await noteRoles.make(CONFIG, services).process(range, emitted as never);
  const rows: RolesNoted[] = [];
  for await (const lines of crawl.services.files.lines(
    `daily/dt=${CONFIG.day}/cluster-roles-noted/part-${range.part}.ndjson.gz`,
  ))
    rows.push(...lines.map((line) => JSON.parse(line)));
  assert.ok(rows[0]!.superseded > 0);
});

test("a crawl without documents has its tables closed over nothing", async (context) => {
  const crawl = await givenCrawl(context);
  await runPhase(crawl.services, clustersPhase);
  await runPhase(crawl.services, rolesPhase);
  for (const table of [clusterTable, clusterReport, clusterRolesNoted])
    assert.deepEqual(await tableRows(crawl.services.files, table), []);
});

test("the steps are called by names of their own", () => {
  const names = [readDocuments, byRange, writeClusters, noteRoles, openTables("dailyOpenX", [])].map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
});
