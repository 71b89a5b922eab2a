// The whole crawl over the simulator's virtual web, with each stage's table calls counted apart and the requests by host.
import { runEmbedded } from "../../../beam/embedded/run-embedded.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import { gunzip } from "../../../io/gunzip.ts";
import { memoryMetrics } from "../../../io/metrics.ts";
import { memoryArchive, memoryEvents, memoryLines } from "../../../io/objects/memory.ts";
import { inlineParser } from "../../../io/parsing/inline.ts";
import { memoryQueue } from "../../../io/queues/memory-queue.ts";
import { crawlDefinitions, crawlPipeline } from "../../../pipelines/crawl.ts";
import { crawlTables, crawlWorker, type RawTables } from "../../../pipelines/worker.ts";
import type { Queue } from "../../../ports/queue.ts";
import { encode } from "../../../schemas/codec.ts";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import { limits } from "../../../schemas/limits.ts";
import { hostQueueMessage } from "../../../schemas/messages.ts";
import { publishDiscoveries } from "../../../transforms/fetch/publish.ts";
import { robotsReader } from "../../../transforms/robots-reader.ts";
import type { CrawlServices } from "../../../transforms/services.ts";
import { virtualClock } from "../../lib/virtual-clock.ts";
import { chance } from "../../sim/chance.ts";
import { newWire, simHttp } from "../../sim/sim-http.ts";
import type { World } from "../../sim/world.ts";
import { type Calls, configOf, counted, memoryTables, START } from "./given.ts";

export interface Counts {
  /** By stage. */
  tables: Map<string, Calls>;
  queues: Map<string, { messages: number; bytes: number }>;
  /** By host name. */
  pages: Map<string, number>;
  robots: Map<string, number>;
  archived: { records: number; bytes: number };
}

export interface CrawledWorld {
  /** Goes on until so many ms after START; gives what was counted meanwhile. */
  until(afterMs: number): Promise<Counts>;
}

const KEEP = 100; // records, lines and events that stay in memory

export async function crawlWorld(world: World, seeds: string[]): Promise<CrawledWorld> {
  const clock = virtualClock(START);
  const policies = world.hosts.flatMap((host) => (host.agreed === undefined ? [] : [{ host: host.name, ...host.agreed }]));
  const config: CrawlConfig = { ...configOf(limits.delayMs), policies, depthMax: 40 };
  let counts = noCounts();
  const raw = memoryTables();
  const watched = (stage: string): RawTables =>
    Object.fromEntries(
      Object.entries(raw).map(([name, table]) => [name, counted(table, name, () => callsOf(counts, stage))]),
    ) as RawTables;
  const random = chance(world.seed, "worker");
  const wire = newWire([
    { arrived: ({ host, path }) => increment(path === "/robots.txt" ? counts.robots : counts.pages, host) },
  ]);
  const archive = memoryArchive({ keep: KEEP });
  const services = crawlWorker({
    config,
    fetchers: limits.fetchers,
    onBroken: (error) => {
      throw error;
    },
    ports: {
      ...{ clock, random, gunzip, log: () => {}, metrics: memoryMetrics() },
      http: simHttp({ world, wire, clock, workerClock: clock, worker: "w1" }),
      archive: {
        ...archive,
        append(records) {
          counts.archived.records += records.length;
          for (const { bytes } of records) for (const part of bytes) counts.archived.bytes += part.length;
          return archive.append(records);
        },
      },
      documents: memoryLines({ keep: KEEP }),
      events: memoryEvents({ keep: KEEP }),
      parser: inlineParser(),
      tables: watched("Fetch"),
      queues: {
        discover: watchedQueue("discover", () => counts),
        host: watchedQueue("host", () => counts),
        reparse: watchedQueue("reparse", () => counts),
      },
    },
  });
  const own = (stage: string): CrawlServices => {
    const tables = crawlTables(watched(stage), random);
    return { ...services, tables, robots: robotsReader(tables.robots, config.productToken) };
  };
  const definitions = crawlDefinitions.map((definition) =>
    definition.name === "Fetch"
      ? definition
      : { ...definition, make: (given: never) => definition.make(given, own(definition.name)) },
  ) as unknown as typeof crawlDefinitions;
  const { log, metrics } = services;
  const registry = dofnRegistry(definitions);
  const job = runEmbedded({ proto: crawlPipeline(config), registry, services, clock, random, log, metrics });
  await publishDiscoveries(services, { source: "seed", depth: 0, hops: 0, kind: "page", urls: seeds });
  sweepForEver(services, config.sweepShards);
  return {
    async until(afterMs) {
      counts = noCounts();
      await clock.run(START + afterMs);
      const failed = await Promise.race([job.done.then((end) => end.error), Promise.resolve()]);
      if (failed !== undefined) throw failed;
      return counts;
    },
  };
}

function noCounts(): Counts {
  return { tables: new Map(), queues: new Map(), pages: new Map(), robots: new Map(), archived: { records: 0, bytes: 0 } };
}

function callsOf(counts: Counts, stage: string): Calls {
  const known = counts.tables.get(stage) ?? new Map();
  counts.tables.set(stage, known);
  return known;
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function watchedQueue(name: string, counts: () => Counts): Queue {
  const queue = memoryQueue();
  return {
    ...queue,
    publish(bodies) {
      const before = counts().queues.get(name) ?? { messages: 0, bytes: 0 };
      const size = bodies.reduce((sum, body) => sum + body.length, 0);
      counts().queues.set(name, { messages: before.messages + bodies.length, bytes: before.bytes + size });
      return queue.publish(bodies);
    },
  };
}

/** As the launcher's ticker does; without its watch for idleness, which asks five times a second. */
function sweepForEver({ clock, queues }: CrawlServices, shards: number): void {
  const bodies = Array.from({ length: shards }, (_, shard) => encode(hostQueueMessage, { kind: "sweep", shard }));
  clock.after(limits.sweepMs, () => {
    void queues.host.publish(bodies);
    sweepForEver({ clock, queues } as CrawlServices, shards);
  });
}
