// The place that joins ports and adapters: stores of either kind opened to crawl, a data directory opened to read or to replay.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { compileConnectTo } from "../core/url/connect-to.ts";
import { warcinfoRecord } from "../core/warc/warcinfo.ts";
import { systemClock } from "../io/clock.ts";
import { gunzip } from "../io/gunzip.ts";
import { systemResolver } from "../io/http/dns.ts";
import { type UndiciHttpOptions, undiciHttp } from "../io/http/undici-http.ts";
import { textLog } from "../io/log.ts";
import { memoryMetrics } from "../io/metrics.ts";
import { readStored } from "../io/objects/archive-files.ts";
import { localDayFiles } from "../io/objects/day-files.ts";
import { realFiles } from "../io/objects/file-layer.ts";
import { type ReadBack, readEvents } from "../io/objects/read-events.ts";
import { workerParser } from "../io/parsing/pool.ts";
import { systemRandom } from "../io/random.ts";
import { crawlRunning } from "../io/stores/crawl-running.ts";
import { nothingThere } from "../io/stores/sqlite-faults.ts";
import { openSqliteReader } from "../io/stores/sqlite-reader.ts";
import type { Archive } from "../ports/archive.ts";
import type { Clock } from "../ports/clock.ts";
import type { DayFiles } from "../ports/day-files.ts";
import type { Http } from "../ports/http.ts";
import type { Log } from "../ports/log.ts";
import { StoreError, scanPages } from "../ports/versioned-table.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import type { EventKind, EventOf } from "../schemas/events.ts";
import { limits } from "../schemas/limits.ts";
import { liveConfig } from "../transforms/live-config.ts";
import { robotsReader } from "../transforms/robots-reader.ts";
import { stopOnSignals } from "./commands/stop-signals.ts";
import { configOf } from "./config.ts";
import { type CrawlOptions, UsageError, VERSION } from "./options.ts";
import { type Orders, ordersIn } from "./orders.ts";
import type { OutlookSource } from "./outlook.ts";
import { findPage, type ReplayJob, type ReplayReport, replayStored } from "./replay.ts";
import { type CloudPlace, cloudFlags, cloudPlace } from "./stores/cloud-place.ts";
import type { CrawlStores, StoresContext } from "./stores/crawl-stores.ts";
import { hasCrawl, openLocalStores, openOutputs, openRecords } from "./stores/local-stores.ts";
import { crawlTables, crawlWorker, type RawTables, tableNames, type WorkerPorts } from "./worker.ts";

export type OpenedCrawl = WorkerPorts &
  Pick<CrawlStores, "orders" | "output" | "durability" | "settleMs"> & {
    metrics: ReturnType<typeof memoryMetrics>;
    config: CrawlConfig;
    /** Ends what is open, in the order that loses nothing. */
    close(): Promise<void>;
  };

const PARSER_WORKERS = 1; // beside the crawler's own thread and the store's, on two cores
const PARSE_QUEUE = 256; // pages that wait for a parser before they are put off

/** Opens the stores of a crawl, or makes its data directory. Rejects with StoreError, or UsageError where nothing names a seed. */
export async function openCrawl(options: CrawlOptions, log: Log): Promise<OpenedCrawl> {
  const [clock, random, metrics] = [systemClock(), systemRandom(), memoryMetrics()];
  const stores = await openStores(options, {
    clock,
    random,
    metrics,
    log,
    warcinfo: (filename, at) => warcinfo(options, random.token(), filename, at),
  });
  const config = await crawlConfig(options, stores).catch(async (error) => {
    await stores.close();
    throw error;
  });
  const resolver = systemResolver({ clock });
  const http = crawlHttp(options, { clock, metrics, resolver });
  const settleMs = config.epoch === 1 ? 0 : stores.settleMs; // the first job finds nobody's messages
  const opened = { ...stores, settleMs, clock, random, metrics, log, gunzip, parser: crawlParser(clock), config, http };
  return {
    ...opened,
    async close() {
      await closePorts(opened);
      resolver.close();
      await stores.close();
    },
  };
}

async function openStores({ cloud, data, durability }: CrawlOptions, context: StoresContext): Promise<CrawlStores> {
  if (cloud === undefined) return openLocalStores({ folder: data, durability }, context);
  // Google's clients take half a second to load.
  const { openCloudStores } = await import("./stores/cloud-stores.ts");
  return openCloudStores(cloud, context);
}

/** On threads of its own. */
export function crawlParser(clock: Clock) {
  return workerParser({
    workers: PARSER_WORKERS,
    timeMs: limits.parseMs,
    memoryMb: limits.parserMemoryMb,
    queueMax: PARSE_QUEUE,
    clock,
  });
}

async function closePorts({ http, parser, archive, documents, events }: WorkerPorts): Promise<void> {
  await Promise.allSettled([http.close(), parser.close(), archive.close(), documents.close(), events.close()]);
}

/** The web as the options let it be asked. */
export function crawlHttp(
  options: Pick<CrawlOptions, "allow" | "connectTo" | "contact" | "fetchers">,
  ports: Pick<UndiciHttpOptions, "clock" | "metrics" | "resolver">,
) {
  const connectTo = compileConnectTo(options.connectTo);
  return undiciHttp({
    ...ports,
    allow: options.allow,
    connectTo: (host, port) => connectTo.target(host, port),
    fetchers: options.fetchers,
    // Without a contact nobody but ourselves is asked.
    ...(options.contact === undefined
      ? { refuse: (address: string) => (isLoopback(address) ? undefined : "no --contact was given") }
      : {}),
  });
}

function isLoopback(address: string): boolean {
  return /^127\./.test(address) || address === "::1" || /^::ffff:127\./i.test(address);
}

/** The record that opens a WARC segment. */
export function warcinfo(options: Pick<CrawlOptions, "userAgent" | "contact">, id: string, filename: string, at: number) {
  const { userAgent, contact } = options;
  return warcinfoRecord({
    id,
    at,
    software: `Gleaner/${VERSION}`,
    userAgent,
    filename,
    robots: "obey",
    ...(contact === undefined ? {} : { contact }),
  });
}

const SEEDS_KEPT = 10_000; // seeds whose hosts bound the scope of a resumed crawl

/** What this run is asked for, with the seeds of the earlier ones: the same folder goes on with the same scope. */
async function crawlConfig(options: CrawlOptions, { meta, clockSkewMs }: CrawlStores): Promise<CrawlConfig> {
  const before = JSON.parse((await meta.get("seeds")) ?? "[]") as string[];
  const seeds = [...new Set([...before, ...options.seeds])];
  if (seeds.length === 0) throw new UsageError("no seed: name a URL, or --seeds FILE, or the stores of a crawl that had some");
  await meta.set("seeds", JSON.stringify(seeds.slice(0, SEEDS_KEPT)));
  const config = configOf(options, { seeds, epoch: await meta.raise("epoch"), clockSkewMs });
  await meta.set("config", JSON.stringify(config));
  return config;
}

export type CrawlReading = OutlookSource & {
  tables: ReturnType<typeof crawlTables>;
  config: CrawlConfig;
  /** For people: where its output lies. */
  folder: string;
  now(): number;
  /** Whether a crawl holds it at this moment; undefined: it cannot be told. */
  running(): boolean | undefined;
  /** Newest first: io/objects/read-events.ts. */
  events<K extends EventKind>(wanted: EventsWanted<K>): Promise<ReadBack<EventOf<K>>>;
  close(): Promise<void>;
};

/** For tools, which import nothing else of what this file joins. */
export { cloudFlags, cloudPlace, findPage, hasCrawl, StoreError, scanPages, stopOnSignals };

export type EventsWanted<K extends EventKind> = {
  kind: K;
  holding: string;
  wanted: (event: EventOf<K>) => boolean;
  max: number;
};

/** What the last crawl was asked for. Where there was none, the store is closed again. */
async function writtenConfig(folder: string, store: Pick<CrawlStores, "close"> & { meta: Pick<CrawlStores["meta"], "get"> }) {
  const written = await store.meta.get("config");
  if (written !== undefined) return JSON.parse(written) as CrawlConfig;
  await store.close();
  throw new StoreError(`${folder} holds a crawl that ended before it began: start it again`);
}

/** The records of a data directory or of a crawl in the cloud, whether it runs or not. Rejects with StoreError. */
export async function openForReading(folder: string, cloud?: CloudPlace): Promise<CrawlReading> {
  if (cloud !== undefined) {
    // Google's clients take half a second to load.
    const { openCloudReading } = await import("./stores/cloud-reading.ts");
    return openCloudReading(cloud);
  }
  const reader = await openSqliteReader(folder);
  const live = liveConfig(await writtenConfig(folder, reader));
  live.order(await ordersIn(folder).read());
  const config = live.now();
  const tables = crawlTables(
    Object.fromEntries(tableNames.map((name) => [name, reader.table(name)])) as RawTables,
    systemRandom(),
  );
  const clock = systemClock();
  return {
    folder,
    tables,
    config,
    robots: robotsReader(tables.robots, config.productToken),
    now: () => clock.now(),
    running: () => crawlRunning(folder),
    events: (wanted) => readEvents({ ...wanted, folder: join(folder, "events"), files: realFiles }),
    close: () => reader.close(),
  };
}

/** The output of a data directory as index builders read it. Throws StoreError where there is none. */
export function openOutput(folder: string): DayFiles {
  if (!hasCrawl(folder) && !existsSync(join(folder, "documents")) && !existsSync(join(folder, "pages")))
    throw nothingThere(folder);
  return localDayFiles(folder);
}

export interface OpenedOrders {
  orders: Orders;
  /** Whether a crawl obeys them at this moment; undefined: it cannot be told. */
  running(): boolean | undefined;
  close(): Promise<void>;
}

/**
 * Orders about the hosts of a data directory or of a crawl in the cloud, whether it runs or not. Rejects with StoreError where there is no
 * crawl.
 */
export async function openOrders(folder: string, cloud: CloudPlace | undefined): Promise<OpenedOrders> {
  if (cloud !== undefined) {
    // Google's clients take half a second to load.
    const { openCloudOrders } = await import("./stores/cloud-stores.ts");
    return { ...(await openCloudOrders(cloud)), running: () => undefined };
  }
  if (!hasCrawl(folder)) throw nothingThere(folder);
  return { orders: ordersIn(folder), running: () => crawlRunning(folder), close: async () => {} };
}

export type { ReplayReport };

export interface OpenedReplay {
  now(): number;
  /** pipelines/replay.ts. Rejects with StoreError. */
  replay(job: Pick<ReplayJob, "target" | "stopped" | "progress">): Promise<ReplayReport>;
  close(): Promise<void>;
}

/**
 * A data directory to parse its stored pages again, for this process alone; what a crawl would write of them is written, with its
 * settings. Neither the web nor the archive is written to or asked. Rejects with StoreError.
 */
export async function openForReplay(folder: string, say: (line: string) => void): Promise<OpenedReplay> {
  if (!hasCrawl(folder)) throw nothingThere(folder);
  const [clock, random, metrics, log] = [systemClock(), systemRandom(), memoryMetrics(), textLog(say, "warn")];
  const place = { folder, durability: "power" } as const;
  const records = await openRecords(place);
  const config = await writtenConfig(folder, records);
  const outputs = await openOutputs(place, { clock, random, metrics, log }).catch(async (error) => {
    await records.close();
    throw error;
  });
  const reads = { parser: crawlParser(clock), http: noHttp(clock), archive: readArchive(folder) };
  const opened = { ...records, ...outputs, ...reads, clock, random, metrics, log, gunzip };
  const services = crawlWorker({ ports: opened, config, fetchers: 1, onBroken: () => {} });
  return {
    now: () => clock.now(),
    replay: (job) => replayStored({ ...job, services, config }),
    async close() {
      await closePorts(opened);
      await records.close();
    },
  };
}

function noHttp(clock: Clock): Http {
  const detail = "a replay asks nobody";
  return { connect: async () => ({ ok: false, reason: "connect", detail, endedAt: clock.now() }), close: async () => {} };
}

function readArchive(folder: string): Archive {
  return {
    append: async () => Promise.reject(new StoreError("a replay captures nothing", { final: true })),
    read: (at) => readStored(join(folder, "pages"), realFiles, at),
    close: async () => {},
  };
}
