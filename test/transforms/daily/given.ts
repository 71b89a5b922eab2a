// A crawl as the daily pipeline meets it: records in memory, files in a folder, and phases run on the embedded engine.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { runBatch } from "../../../beam/batch/run-batch.ts";
import { buildBatch } from "../../../beam/pipeline.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import { hostKeyOf, paceKeyOfHost, urlIdentity } from "../../../core/url/keys.ts";
import { seedScope } from "../../../core/url/scope.ts";
import { systemClock } from "../../../io/clock.ts";
import { memoryMetrics } from "../../../io/metrics.ts";
import { localDayFiles } from "../../../io/objects/day-files.ts";
import { seededRandom } from "../../../io/random.ts";
import { memorySpill } from "../../../io/spill/memory-spill.ts";
import { memoryTable } from "../../../io/stores/memory-table.ts";
import type { DailyConfig, DailyPhase } from "../../../pipelines/daily/phase.ts";
import { crawlTables, type RawTables, tableNames } from "../../../pipelines/worker.ts";
import type { DayFiles } from "../../../ports/day-files.ts";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import { type AnyDayTable, tableFolder } from "../../../schemas/daily/day-table.ts";
import { MANIFEST, type PartitionManifest } from "../../../schemas/daily/manifest.ts";
import type { HostState } from "../../../schemas/host-state.ts";
import { dueKey, parseDueKey, rowKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import type { DailyServices } from "../../../transforms/daily/services.ts";
import { liveConfig } from "../../../transforms/live-config.ts";
import { testConfig } from "../../lib/crawl-config.ts";

export const DAY = "2026-11-30";
export const DAY_MS = 86_400_000;
/** The end of the day, and the beginning of the one that is planned. */
export const AS_OF = Date.parse("2026-12-01T00:00:00Z");
export const CONFIG: DailyConfig = { day: DAY, asOf: AS_OF };

export interface GivenUrl extends Partial<UrlState> {
  url: string;
}

export interface GivenCrawl {
  services: DailyServices;
  raw: RawTables;
  folder: string;
  put(...urls: GivenUrl[]): Promise<void>;
  putHost(paceKey: string, state: HostState): Promise<void>;
  record(url: string): Promise<UrlState | undefined>;
  /** Due times in the index, by URL id. */
  due(): Promise<Map<string, number[]>>;
}

export async function givenCrawl(context: Pick<TestContext, "after">, config: Partial<CrawlConfig> = {}): Promise<GivenCrawl> {
  const folder = await mkdtemp(join(tmpdir(), "daily-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const random = seededRandom("daily");
  const raw = Object.fromEntries(tableNames.map((name) => [name, memoryTable()])) as RawTables;
  const tables = crawlTables(raw, random);
  const services: DailyServices = {
    ...{ clock: systemClock(), random, log: () => {}, metrics: memoryMetrics(), tables },
    files: localDayFiles(folder),
    live: liveConfig({ ...testConfig(seedScope("any", [], [])), ...config }),
  };
  return {
    services,
    raw,
    folder,
    async put(...urls) {
      for (const { url, ...changes } of urls) {
        const { paceKey, urlId } = placeOf(url);
        const value: UrlState = { ...visited(url), ...changes };
        await tables.urls.insertIfAbsent([{ key: rowKey(paceKey, urlId), value }]);
        const entry = { paceKey, urlId, priority: value.priority, dueAt: value.nextFetchAt };
        await tables.due.put([{ key: dueKey(entry), rev: "", value: new Uint8Array() }]);
      }
    },
    async putHost(paceKey, value) {
      await tables.hosts.insertIfAbsent([{ key: rowKey(paceKey), value }]);
    },
    async record(url) {
      const { paceKey, urlId } = placeOf(url);
      return (await tables.urls.get([rowKey(paceKey, urlId)]))[0]?.value;
    },
    async due() {
      const found = new Map<string, number[]>();
      for (const { key } of await tables.due.scan({ from: "", to: "~", limit: 100_000 })) {
        const { urlId, dueAt } = parseDueKey(key);
        found.set(urlId, [...(found.get(urlId) ?? []), dueAt]);
      }
      return found;
    },
  };
}

export function placeOf(url: string): { paceKey: string; urlId: string } {
  return { paceKey: paceKeyOfHost(hostKeyOf(url)), urlId: urlIdentity(url).urlId };
}

/** Fetched twice, a week and three days ago, and found unchanged. */
function visited(url: string): UrlState {
  return {
    ...{ canonicalUrl: url, kind: "page", depth: 1, hops: 0, priority: 2, failureCount: 0 },
    ...{ version: 2, docVersion: 1, indexed: true, quality: 50, lastOutcome: "unchanged", lastStatus: 304 },
    discoveredAt: AS_OF - 20 * DAY_MS,
    lastFetchAt: AS_OF - 3 * DAY_MS,
    nextFetchAt: AS_OF + 4 * DAY_MS,
    changeHistory: [{ afterMs: 7 * DAY_MS, changed: false }],
  };
}

/** Throws what made it fail. */
export async function runPhase(
  services: DailyServices,
  phase: DailyPhase,
  config: DailyConfig = CONFIG,
  options: { memoryBytes?: number; bundleTries?: number } = {},
): Promise<void> {
  const { clock, log, metrics } = services;
  const job = runBatch({
    proto: buildBatch((p) => phase.build(p, config)),
    registry: dofnRegistry(phase.definitions),
    ...{ services, clock, log, metrics, spill: memorySpill() },
    ...options,
  });
  const { state, error } = await job.done;
  if (error !== undefined) throw error;
  assert.equal(state, "done");
}

/** The rows that a closed table holds, in the order of its files. Fails where no manifest stands, or it does not fit the files. */
export async function tableRows<Row>(files: DayFiles, table: AnyDayTable, day = DAY): Promise<Row[]> {
  const folder = tableFolder(day, table);
  const manifest = await manifestOf(files, table, day);
  const rows: Row[] = [];
  for (const { name, ...told } of manifest.files) {
    const measured = await files.measure(`${folder}/${name}`);
    assert.deepEqual(measured, { name: `${folder}/${name}`, ...told });
    for await (const lines of files.lines(`${folder}/${name}`)) rows.push(...lines.map((line) => JSON.parse(line) as Row));
  }
  assert.equal(rows.length, manifest.rows);
  return rows;
}

export async function manifestOf(files: DayFiles, table: AnyDayTable, day = DAY): Promise<PartitionManifest> {
  for await (const [line] of files.lines(`${tableFolder(day, table)}/${MANIFEST}`)) return JSON.parse(line ?? "");
  return assert.fail("an empty manifest");
}
