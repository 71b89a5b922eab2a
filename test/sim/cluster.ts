// Who works in this run? Workers on shared stores, each with its own engine, clock and ports; they die, overlap and are replaced.
import { gunzip } from "../../io/gunzip.ts";
import { inlineParser } from "../../io/parsing/inline.ts";
import { crawlDefinitions } from "../../pipelines/crawl.ts";
import { launchCrawl, type RunningCrawl } from "../../pipelines/launch.ts";
import { crawlWorker, type RawTables, tableNames } from "../../pipelines/worker.ts";
import type { Archive, Lines } from "../../ports/archive.ts";
import type { Events } from "../../ports/events.ts";
import type { Http } from "../../ports/http.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Queue } from "../../ports/queue.ts";
import type { VersionedTable } from "../../ports/versioned-table.ts";
import { decode } from "../../schemas/codec.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";
import { type DiscoverMessage, discoverMessage } from "../../schemas/messages.ts";
import type { RowKey } from "../../schemas/row-key.ts";
import { repair } from "../../transforms/repair.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import type { VirtualClock } from "../lib/virtual-clock.ts";
import type { Chance } from "./chance.ts";
import {
  faultyArchive,
  faultyDefinition,
  faultyEvents,
  faultyLines,
  faultyParser,
  faultyQueue,
  faultyTable,
  type Weather,
} from "./faults.ts";
import { type Life, mortal, mortalClock } from "./mortal.ts";

/** What outlives every worker. */
export interface Ground {
  clock: VirtualClock;
  tables: RawTables;
  queues: { discover: Queue; reparse: Queue };
  archive: Archive;
  documents: Lines;
  events: Events;
  metrics: Metrics;
}

export interface SimWorker {
  name: string;
  life: Life;
  services: CrawlServices;
  /** Set when the repair that each start begins with is done. */
  running?: RunningCrawl;
  /** The job ended by itself: too many failed bundles, a broken store. */
  failed: boolean;
  /** Its death has been told. */
  buried: boolean;
}

/** What somebody beside the workers wants to see of their work. */
export interface Spectator {
  discovered(message: DiscoverMessage): void;
  recorded(key: RowKey): void;
  frontier(readyUrls: number): void;
  crashed(worker: string): void;
}

export interface ClusterOptions {
  ground: Ground;
  config: CrawlConfig;
  weather: Weather;
  /** Of the workers' own draws: tokens, revs, jitter. */
  draw: Chance;
  http: (worker: { name: string; life: Life; clock: CrawlServices["clock"] }) => Http;
  hostQueue: () => Queue;
  seeds: readonly string[];
  spectator: Spectator;
  log?: CrawlServices["log"];
}

const TABLE = ["get", "scan", "insertIfAbsent", "compareAndSet", "delete"] as const;

export class Cluster {
  readonly workers: SimWorker[] = [];
  readonly #options: ClusterOptions;
  #started = 0;
  /** Messages in the hands of a worker, to be given back when it dies. */
  readonly #held = new Map<SimWorker["life"], Map<Queue, Set<string>>>();

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  get living(): SimWorker[] {
    return this.workers.filter(({ life, failed }) => !life.dead && !failed);
  }

  /** A new worker of a new epoch: whoever works beside it with an older one is a zombie. */
  start(): SimWorker {
    const { ground, config, weather, draw, http, hostQueue, spectator, log = () => {} } = this.#options;
    const name = `w${++this.#started}`;
    const life: Life = { dead: false };
    const skewMs = weather.plan["clock-skew"] > 0 ? Math.round((draw.next() * 2 - 1) * config.clockSkewMs) : 0;
    const clock = mortalClock(ground.clock, life, skewMs);
    const table = (each: (typeof tableNames)[number]) =>
      mortal(faultyTable(each === "urls" ? seen(ground.tables.urls, spectator) : ground.tables[each], weather), life, TABLE);
    const queue = (each: Queue, mayLose: boolean) =>
      mortal(faultyQueue(this.#noting(each, life), weather, mayLose), life, [
        "publish",
        "pull",
        "acknowledge",
        "release",
        "depth",
      ]);
    const mine = { ...config, epoch: this.#started };
    const services = crawlWorker({
      config: mine,
      fetchers: limits.fetchers,
      onBroken: (error) => worker.running?.stop("broken", error),
      ports: {
        clock,
        random: draw,
        metrics: ground.metrics,
        log,
        http: mortal(http({ name, life, clock }), life, ["connect"]),
        archive: mortal(faultyArchive(ground.archive, weather), life, ["append", "read"]),
        documents: mortal(faultyLines(ground.documents, weather), life, ["append"]),
        events: mortal(faultyEvents(ground.events, weather), life, ["publish"]),
        parser: mortal(faultyParser(inlineParser(), weather), life, ["parse"]),
        gunzip,
        tables: Object.fromEntries(tableNames.map((each) => [each, table(each)])) as RawTables,
        queues: {
          discover: queue(heard(ground.queues.discover, spectator), false),
          reparse: queue(ground.queues.reparse, false),
          host: queue(hostQueue(), true),
        },
      },
    });
    const worker: SimWorker = { name, life, services, failed: false, buried: false };
    this.workers.push(worker);
    this.#begin(worker, mine).catch(() => {
      worker.failed = true; // the repair met a fault: as a command that ends with its exit code
    });
    return worker;
  }

  /** As the crawl command begins: repair, then the job. */
  async #begin(worker: SimWorker, config: CrawlConfig): Promise<void> {
    const { weather, seeds, spectator } = this.#options;
    const { services, life } = worker;
    await repair({ services, sweepShards: config.sweepShards });
    const definitions = crawlDefinitions.map((definition) =>
      faultyDefinition(definition, weather, (frontier) => spectator.frontier(frontier.ready.length)),
    );
    worker.running = launchCrawl({ services, config, seeds, idleHorizonMs: 0, stopWhenIdle: false, definitions });
    await worker.running.ended;
    worker.failed = true;
    this.#giveBack(life);
  }

  /** As kill -9: nothing of it goes on, what it held comes again. */
  kill(worker: SimWorker): void {
    worker.life.dead = true;
    this.#bury(worker);
  }

  /** Buries those that died by themselves and makes sure that somebody works. */
  tend(): void {
    for (const worker of this.workers) if (worker.life.dead || worker.failed) this.#bury(worker);
    if (this.living.length === 0) this.start();
  }

  /** At the end of a run: whatever anybody holds is laid down. */
  putDown(): void {
    for (const { life } of this.workers) this.#giveBack(life);
  }

  #bury(worker: SimWorker): void {
    if (worker.buried) return;
    worker.buried = true;
    this.#giveBack(worker.life);
    this.#options.spectator.crashed(worker.name);
  }

  #giveBack(life: Life): void {
    for (const [queue, ids] of this.#held.get(life) ?? []) void queue.release([...ids]);
    this.#held.delete(life);
  }

  #noting(queue: Queue, life: Life): Queue {
    const ids = new Set<string>();
    const queues = this.#held.get(life) ?? new Map<Queue, Set<string>>();
    queues.set(queue, ids);
    this.#held.set(life, queues);
    return {
      ...queue,
      async pull(max) {
        const messages = await queue.pull(max);
        for (const { id } of messages) ids.add(id);
        return messages;
      },
      async acknowledge(done) {
        await queue.acknowledge(done);
        for (const id of done) ids.delete(id);
      },
    };
  }
}

function seen(table: VersionedTable, spectator: Spectator): VersionedTable {
  return {
    ...table,
    async insertIfAbsent(rows) {
      const inserted = await table.insertIfAbsent(rows);
      for (const [index, row] of rows.entries()) if (inserted[index]) spectator.recorded(row.key);
      return inserted;
    },
  };
}

function heard(queue: Queue, spectator: Spectator): Queue {
  return {
    ...queue,
    async publish(bodies) {
      await queue.publish(bodies);
      for (const body of bodies) spectator.discovered(decode(discoverMessage, body));
    },
  };
}
