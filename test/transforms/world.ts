// A worker of the crawl without engine, web or wall clock: stores in memory, a web of given answers, and a process that can be killed.

import { memoryMetrics } from "../../io/metrics.ts";
import { memoryArchive, memoryEvents, memoryLines } from "../../io/objects/memory.ts";
import { inlineParser } from "../../io/parsing/inline.ts";
import { memoryQueue } from "../../io/queues/memory-queue.ts";
import { seededRandom } from "../../io/random.ts";
import { memoryTable } from "../../io/stores/memory-table.ts";
import { crawlWorker, type RawTables, tableNames, type WorkerPorts } from "../../pipelines/worker.ts";
import type { Parser } from "../../ports/parser.ts";
import type { Queue } from "../../ports/queue.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { type Codec, decode } from "../../schemas/codec.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { HostState } from "../../schemas/host-state.ts";
import {
  type DiscoverMessage,
  discoverMessage,
  hostQueueMessage,
  type Report,
  reparseMessage,
} from "../../schemas/messages.ts";
import { dueKey, parseDueKey, rowKey } from "../../schemas/row-key.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import { virtualClock } from "../lib/virtual-clock.ts";
import { fakeWeb, type Site } from "./fake-web.ts";

export const START = Date.UTC(2030, 0, 1);

export function crawlConfig(change: Partial<CrawlConfig> = {}): CrawlConfig {
  return {
    userAgent: "OurBot/1.0",
    productToken: "OurBot",
    scope: { mode: "any", hosts: [], domains: [], rules: [] },
    sitemaps: false,
    depthMax: 5,
    pagesPerHost: 1000,
    delayMs: 1000,
    hostConcurrency: 1,
    requestMs: 30_000,
    acceptTypes: [],
    documents: true,
    policies: [],
    policyVersion: 1,
    epoch: 1,
    sweepShards: 4,
    clockSkewMs: 0,
    ...change,
  };
}

export interface WorldOptions {
  site?: Site;
  config?: Partial<CrawlConfig>;
  parser?: Parser;
  /** The process dies at this write, counted from 0 over all stores: `before` it is done, or `after`, when only its answer is lost. */
  dies?: Death;
}

export interface Death {
  write: number;
  when: "before" | "after";
}

type Stores = Pick<WorkerPorts, "tables" | "queues" | "archive" | "events" | "documents">;

export function world(options: WorldOptions = {}) {
  const clock = virtualClock(START);
  const config = crawlConfig(options.config);
  const random = seededRandom("world");
  const web = fakeWeb(clock, options.site ?? {});
  const events = memoryEvents();
  const archive = memoryArchive();
  const documents = memoryLines();
  const metrics = memoryMetrics();
  const logged: string[] = [];
  const stores: Stores = {
    archive,
    documents,
    events,
    tables: Object.fromEntries(tableNames.map((name) => [name, memoryTable()])) as RawTables,
    queues: { discover: memoryQueue(), host: memoryQueue(), reparse: memoryQueue() },
  };
  const start = (death?: Death): { services: CrawlServices; process: Mortal } => {
    const process = mortal(death);
    const ports: WorkerPorts = {
      clock,
      random,
      metrics,
      log: (_level, message, fields) => void logged.push(`${message} ${JSON.stringify(fields)}`),
      http: web.http,
      parser: options.parser ?? inlineParser(),
      gunzip: async () => undefined,
      ...process.stores(stores),
    };
    return { process, services: crawlWorker({ ports, config, fetchers: 4, onBroken: () => {} }) };
  };
  const { services, process } = start(options.dies);
  const restarted = start().services;
  return {
    archive,
    clock,
    config,
    documents,
    events,
    logged,
    metrics,
    process,
    random,
    services,
    stores,
    web,
    /** The services of the next process on the same stores. */
    restarted,
  };
}

interface Mortal {
  readonly writes: number;
  stores(stores: Stores): Stores;
}

/** Counts writes; once dead, nothing that the process does has any effect. */
function mortal(death: Death | undefined): Mortal {
  let writes = 0;
  let dead = false;
  const fail = (): never => {
    throw new StoreError("the process is dead");
  };
  const reading =
    <A extends unknown[], R>(read: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> =>
      dead ? fail() : read(...args);
  const writing =
    <A extends unknown[], R>(write: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (dead) return fail();
      const last = death !== undefined && writes === death.write;
      writes++;
      if (!last) return write(...args);
      if (death.when === "after") await write(...args);
      dead = true;
      return fail();
    };
  const queue = (inner: Queue): Queue => ({ ...inner, publish: writing(inner.publish), pull: reading(inner.pull) });
  return {
    get writes() {
      return writes;
    },
    stores: ({ archive, documents, events, queues, tables }) => ({
      archive: { ...archive, append: writing(archive.append), read: reading(archive.read) },
      documents: { ...documents, append: writing(documents.append) },
      events: { ...events, publish: writing(events.publish) as typeof events.publish },
      queues: { discover: queue(queues.discover), host: queue(queues.host), reparse: queue(queues.reparse) },
      tables: Object.fromEntries(
        Object.entries(tables).map(([name, table]) => [
          name,
          {
            get: reading(table.get),
            scan: reading(table.scan),
            insertIfAbsent: writing(table.insertIfAbsent),
            compareAndSet: writing(table.compareAndSet),
            delete: writing(table.delete),
            put: writing(table.put),
            drop: writing(table.drop),
          },
        ]),
      ) as RawTables,
    }),
  };
}

export async function urlRecord({ services }: { services: CrawlServices }, paceKey: string, urlId: string) {
  const [row] = await services.tables.urls.get([rowKey(paceKey, urlId)]);
  return row?.value;
}

export async function hostRecord({ services }: { services: CrawlServices }, paceKey: string): Promise<HostState | undefined> {
  const [row] = await services.tables.hosts.get([rowKey(paceKey)]);
  return row?.value;
}

/** Every entry of the due index. */
export async function dueEntries({ services }: { services: CrawlServices }) {
  const rows = await services.tables.due.scan({ from: "", to: "\u{10ffff}", limit: 10_000 });
  return rows.map((row) => parseDueKey(row.key));
}

/** What of the due index and the URL records does not agree: nothing, where all is well. */
export async function dueFaults({ services }: { services: CrawlServices }): Promise<string[]> {
  const standing = new Set(
    (await services.tables.due.scan({ from: "", to: "\u{10ffff}", limit: 10_000 })).map((row) => row.key),
  );
  const faults: string[] = [];
  for (const { key, value } of await services.tables.urls.scan({ from: "", to: "\u{10ffff}", limit: 10_000 })) {
    const [, paceKey = "", urlId = ""] = key.split("/");
    const own = dueKey({ paceKey, urlId, priority: value.priority, dueAt: value.nextFetchAt });
    if (!standing.delete(own)) faults.push(`${value.canonicalUrl} has no entry`);
    if (value.marks !== undefined) faults.push(`${value.canonicalUrl} has marks`);
  }
  return [...faults, ...[...standing].map((key) => `${key} has no record`)];
}

/** Takes all messages out of a queue. */
async function drained<T>(queue: Queue, codec: Codec<T>): Promise<T[]> {
  const messages = await queue.pull(10_000);
  await queue.acknowledge(messages.map(({ id }) => id));
  return messages.map(({ body }) => decode(codec, body));
}

export const discoveries = ({ services }: { services: CrawlServices }): Promise<DiscoverMessage[]> =>
  drained(services.queues.discover, discoverMessage);

export const reparses = ({ services }: { services: CrawlServices }) => drained(services.queues.reparse, reparseMessage);

export async function reports({ services }: { services: CrawlServices }): Promise<Report[]> {
  const messages = await drained(services.queues.host, hostQueueMessage);
  return messages.flatMap((message) => (message.kind === "host" && message.message.kind === "report" ? [message.message] : []));
}
