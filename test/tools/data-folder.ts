// A data folder as a crawl leaves it, written record by record.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { templateRowKey } from "../../core/traps/template.ts";
import { hostKeyOf, paceKeyOfHost, urlIdentity } from "../../core/url/keys.ts";
import { normalizeUrl } from "../../core/url/normalize.ts";
import { seedScope } from "../../core/url/scope.ts";
import { systemClock } from "../../io/clock.ts";
import { fileEvents } from "../../io/objects/events-files.ts";
import { realFiles } from "../../io/objects/file-layer.ts";
import { systemRandom } from "../../io/random.ts";
import { openSqliteStore } from "../../io/stores/sqlite-store.ts";
import { crawlTables, durableQueueNames, type RawTables, tableNames } from "../../pipelines/worker.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { FetchEvent, SkipEvent } from "../../schemas/events.ts";
import type { HostState } from "../../schemas/host-state.ts";
import type { RobotsState } from "../../schemas/robots-state.ts";
import { dueKey, rowKey } from "../../schemas/row-key.ts";
import type { TemplateCount } from "../../schemas/template-count.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import { testConfig } from "../lib/crawl-config.ts";

export interface GivenData {
  seeds: readonly string[];
  config?: Partial<CrawlConfig>;
  urls?: ({ url: string /** Default: a due entry that agrees. */; due?: boolean } & Partial<UrlState>)[];
  hosts?: Record<string, HostState>;
  /** By host key. */
  robots?: Record<string, RobotsState>;
  templates?: TemplateCount[];
  fetches?: FetchEvent[];
  skips?: SkipEvent[];
}

/** The folder is removed after the test. Nothing is open on it. */
export async function dataFolder(context: Pick<TestContext, "after">, given: GivenData): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tools-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const random = systemRandom();
  const store = await openSqliteStore({ folder, tables: tableNames, queues: durableQueueNames, durability: "process" });
  const raw = Object.fromEntries(tableNames.map((name) => [name, store.table(name)])) as RawTables;
  const tables = crawlTables(raw, random);
  await store.meta.set("config", JSON.stringify({ ...testConfig(seedScope("host", given.seeds, [])), ...given.config }));
  for (const { url, due = true, ...changes } of given.urls ?? []) {
    const { paceKey, urlId, record } = recordOf(url, changes);
    await tables.urls.insertIfAbsent([{ key: rowKey(paceKey, urlId), value: record }]);
    const entry = { paceKey, urlId, priority: record.priority, dueAt: record.nextFetchAt };
    if (due) await tables.due.insertIfAbsent([{ key: dueKey(entry), rev: random.token(), value: new Uint8Array() }]);
  }
  for (const [paceKey, value] of Object.entries(given.hosts ?? {}))
    await tables.hosts.insertIfAbsent([{ key: rowKey(paceKey), value }]);
  for (const [hostKey, value] of Object.entries(given.robots ?? {}))
    await tables.robots.insertIfAbsent([{ key: rowKey(paceKeyOfHost(hostKey), hostKey), value }]);
  for (const value of given.templates ?? []) await tables.templates.insertIfAbsent([{ key: templateRowKey(value), value }]);
  await store.close();
  const where = { folder: join(folder, "events"), files: realFiles, clock: systemClock(), random };
  const events = await fileEvents({ ...where, durability: "process" });
  await events.publish("fetch", given.fetches ?? []);
  await events.publish("skip", given.skips ?? []);
  await events.close();
  return folder;
}

function recordOf(url: string, changes: Partial<UrlState>) {
  const normal = normalizeUrl(url);
  if (!normal.ok || normal.url !== url) throw new Error(`${url} is not canonical`);
  const { urlId } = urlIdentity(url);
  const record: UrlState = {
    canonicalUrl: url,
    kind: "page",
    version: 0,
    docVersion: 0,
    depth: 1,
    hops: 0,
    priority: 1,
    discoveredAt: 1,
    nextFetchAt: 1,
    failureCount: 0,
    ...changes,
  };
  return { paceKey: paceKeyOfHost(hostKeyOf(url)), urlId, record };
}
