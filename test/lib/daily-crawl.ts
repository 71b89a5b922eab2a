// A crawl of yesterday as npm run daily meets it, in a folder or in the cloud, and what the run has left of it: tables, records, partitions.
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { systemClock } from "../../io/clock.ts";
import { memoryMetrics } from "../../io/metrics.ts";
import { localDayFiles } from "../../io/objects/day-files.ts";
import { openBucket } from "../../io/objects/gcs/bucket.ts";
import { gcsDayFiles } from "../../io/objects/gcs/day-files.ts";
import { GZIP_TYPE, TEXT_TYPE } from "../../io/objects/gcs/named-object.ts";
import { EVENT_FILES } from "../../io/queues/pubsub-names.ts";
import { systemRandom } from "../../io/random.ts";
import { bigtableClient } from "../../io/stores/bigtable/client.ts";
import { openBigtableStore } from "../../io/stores/bigtable/store.ts";
import { openSqliteReader } from "../../io/stores/sqlite-reader.ts";
import { tableNames } from "../../pipelines/worker.ts";
import type { DayFiles } from "../../ports/day-files.ts";
import type { VersionedTable } from "../../ports/versioned-table.ts";
import type { FetchEvent, IndexEvent, SkipEvent } from "../../schemas/events.ts";
import { dataFolder } from "../tools/data-folder.ts";
import { type CloudCrawl, PROJECT } from "./cloud-crawl.ts";

export const DAY_MS = 86_400_000;
export const YESTERDAY = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
const TODAY_AT = Date.parse(YESTERDAY) + DAY_MS;
const NOON = TODAY_AT - DAY_MS / 2;
export const URLS = 300;
const HOSTS = 40;

/** Pages of which many are alike, and whose due times want to move. */
const urls = Array.from({ length: URLS }, (_, at) => ({
  url: `http://h${at % HOSTS}.test/${at}`,
  ...({ version: 3, docVersion: 1, indexed: true, priority: 2, lastOutcome: "fetched", lastStatus: 200 } as const),
  lastFetchAt: TODAY_AT - ((at % 9) + 1) * DAY_MS,
  nextFetchAt: TODAY_AT + (at % 28) * DAY_MS,
  quality: at % 100,
  simHash: Buffer.from(((at >> 2) * 0x9e3779b97f4a).toString(16).padStart(16, "0").slice(0, 16), "hex"),
  changeHistory: [{ afterMs: ((at % 7) + 1) * DAY_MS, changed: at % 3 === 0 }],
  due: at % 50 !== 0, // some entries are missing
}));

const fetches = Array.from({ length: 60 }, (_, at): FetchEvent => {
  const host = `h${at % HOSTS}.test`;
  return {
    ...{ at: NOON + at, url: `http://${host}/${at}`, urlId: `u${at}`, hostKey: `http://${host}`, paceKey: host },
    ...{ kind: "page", leaseId: `lease-${at % 50}`, version: 0, outcome: "fetched", status: 200, contentHash: `c${at % 20}` },
    ...{ wireBytes: 100 * at, bodyBytes: 300 * at, latencyMs: at, dueAt: NOON, priority: at % 3 },
  };
});
const documents = Array.from(
  { length: 20 },
  (_, at): IndexEvent => ({
    at: NOON,
    op: "upsert",
    urlId: `u${at % 15}`,
    docVersion: 1,
    url: `http://h0.test/${at % 15}`,
  }),
);
const skips: SkipEvent[] = [
  { at: NOON, hostKey: "http://h0.test", reason: "scope", source: "link", count: 3, samples: ["http://elsewhere.test/"] },
  { at: NOON + 1, hostKey: "http://h0.test", reason: "scope", source: "link", count: 2, samples: [] },
];

/** Each version of a document once or twice, in parts that are small. */
const parts = ["a", "b", "c"].map((name, part) => ({
  name: `documents/dt=${YESTERDAY}/part-${name}.ndjson.gz`,
  lines: Array.from({ length: 10 }, (_, at) => JSON.stringify({ urlId: `u${part * 5 + at}`, docVersion: 1, text: "words" })),
}));

const folders = ["events", "documents"];

/** In a folder of its own. `clear` removes it. */
export async function crawlOfYesterday(): Promise<{ folder: string; clear(): Promise<void> }> {
  const ended: (() => unknown)[] = [];
  const after = (run: unknown) => void ended.push(run as () => unknown);
  const folder = await dataFolder({ after }, { seeds: ["http://h0.test/"], urls });
  const events = { fetch: fetches, index: documents, skip: skips };
  for (const [kind, given] of Object.entries(events))
    await put(
      folder,
      `events/${kind}/dt=${YESTERDAY}/part-1.ndjson`,
      given.map((event) => JSON.stringify(event)),
    );
  for (const { name, lines } of parts) await put(folder, name, lines);
  const clear = async (): Promise<void> => {
    for (const end of ended) await end();
  };
  return { folder, clear };
}

async function put(folder: string, name: string, lines: readonly string[]): Promise<void> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  const text = `${lines.join("\n")}\n`;
  await writeFile(path, name.endsWith(".gz") ? gzipSync(text) : text);
}

const ALL_ROWS = { from: "", to: "~", limit: 100_000 };

/** The records and files of a folder, in stores that were set up for a crawl of their own. */
export async function copyToCloud(folder: string, cloud: CloudCrawl): Promise<void> {
  const reader = await openSqliteReader(folder);
  await inCloud(cloud, async ({ store, bucket }) => {
    for (const name of tableNames) await store.table(name).put(await reader.table(name).scan(ALL_ROWS));
    await store.meta.set("config", (await reader.meta.get("config"))!);
    const files = localDayFiles(folder);
    for (const below of folders)
      for (const { name } of await files.list(below)) {
        const bytes = await readFile(join(folder, name));
        const object = below === "events" ? asPubsub(name, bytes) : { name, bytes, contentType: GZIP_TYPE };
        assert.equal(await bucket.create(object), "created");
      }
  });
  await reader.close();
}

/** Pub/Sub names its files by the time, and has no end behind the last line. */
function asPubsub(name: string, bytes: Uint8Array) {
  const named = name.replace(/part-.*$/, `12_00_00Z_8e5a1f${EVENT_FILES.suffix}`);
  return { name: named, bytes: bytes.subarray(0, -1), contentType: TEXT_TYPE };
}

async function inCloud<T>(
  { crawl }: CloudCrawl,
  work: (opened: Awaited<ReturnType<typeof openCloud>>) => Promise<T>,
): Promise<T> {
  const client = bigtableClient({ project: PROJECT });
  try {
    return await work(await openCloud(client, crawl));
  } finally {
    await client.close();
  }
}

async function openCloud(client: ReturnType<typeof bigtableClient>, crawl: string) {
  const [clock, random] = [systemClock(), systemRandom()];
  const place = { client, instance: "gleaner", tablePrefix: crawl, metrics: memoryMetrics() };
  return {
    store: await openBigtableStore({ ...place, tables: tableNames }),
    bucket: await openBucket({ bucket: `${PROJECT}-${crawl}`, project: PROJECT, clock, random }),
  };
}

export type DailyOutcome = Awaited<ReturnType<typeof outcomeOf>>;

export async function outcomeInFolder(folder: string): Promise<DailyOutcome> {
  const reader = await openSqliteReader(folder);
  try {
    return await outcomeOf(localDayFiles(folder), (name) => reader.table(name));
  } finally {
    await reader.close();
  }
}

export function outcomeInCloud(cloud: CloudCrawl): Promise<DailyOutcome> {
  return inCloud(cloud, ({ store, bucket }) => outcomeOf(gcsDayFiles({ bucket }), (name) => store.table(name)));
}

/** Rows by table and the partition of documents, in no order, and all records but their revs. */
async function outcomeOf(files: DayFiles, table: (name: string) => VersionedTable) {
  const rows: Record<string, string[]> = {};
  const manifests: string[] = [];
  for (const { name } of [...(await files.list("daily")), ...(await files.list("documents"))]) {
    const lines: string[] = [];
    for await (const some of files.lines(name)) lines.push(...some);
    const [of, file] = name.split("/").slice(-2) as [string, string];
    if (file.endsWith(".gz")) rows[of] = [...(rows[of] ?? []), ...lines].sort();
    if (file !== "manifest.json") continue;
    const { table: closed, rows: count, files: named } = JSON.parse(lines[0]!);
    manifests.push(`${closed} ${count} in ${named.length}`);
  }
  const records = async (name: string) =>
    (await table(name).scan(ALL_ROWS)).map(({ key, value }) => `${key} ${Buffer.from(value).toString("base64")}`);
  const [all, due, hostDue] = [await records("urls"), await records("due"), await records("host_due")];
  return { rows, manifests: manifests.sort(), urls: all, due, hostDue };
}
