// Who works in this run? Workers on shared stores, each with its own engine, clock and ports; they die, overlap and are replaced.
import { gunzip } from "../../io/gunzip.ts";
import { crawlDefinitions } from "../../pipelines/crawl.ts";
import { launchCrawl, type RunningCrawl } from "../../pipelines/launch.ts";
import { crawlWorker, type RawTables, type TableName, tableNames, type WorkerPorts } from "../../pipelines/worker.ts";
import type { Http } from "../../ports/http.ts";
import type { Queue } from "../../ports/queue.ts";
import type { VersionedTable } from "../../ports/versioned-table.ts";
import { decode } from "../../schemas/codec.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";
import { type DiscoverMessage, discoverMessage } from "../../schemas/messages.ts";
import type { RowKey } from "../../schemas/row-key.ts";
import { repair } from "../../transforms/repair.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import type { Chance } from "./chance.ts";
import { faultyDefinition } from "./engine-faults.ts";
import {
  faultyArchive,
  faultyEvents,
  faultyLines,
  faultyOrders,
  faultyParser,
  faultyQueue,
  faultyTable,
  type Weather,
} from "./faults.ts";
import type { Ground } from "./ground.ts";
import {
  type Life,
  mortalArchive,
  mortalClock,
  mortalEvents,
  mortalHttp,
  mortalLines,
  mortalParser,
  mortalQueue,
  mortalTable,
} from "./life.ts";
import { ordersHeard, type SimOrder } from "./orders.ts";

export interface SimWorker {
  name: string;
  life: Life;
  services: CrawlServices;
  /** Set when the repair that each start begins with is done. */
  running?: RunningCrawl;
  /** The job ended by itself: too many failed bundles, a broken store. */
  failed: boolean;
}

/** What somebody beside the workers wants to see of their work; what nobody wants to see is not looked for. */
export interface Spectator {
  discovered?(message: DiscoverMessage): void;
  recorded?(key: RowKey): void;
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
  orders: readonly SimOrder[];
  spectator: Spectator;
  log?: CrawlServices["log"];
}

export class Cluster {
  /** Those who were not buried yet, the oldest first. */
  #workers: SimWorker[] = [];
  readonly #options: ClusterOptions;
  #started = 0;
  #newest: SimWorker | undefined;
  /** Messages in the hands of a worker, to be given back when it dies, and what ends its listening. */
  readonly #held = new Map<Life, { queues: Map<Queue, Set<string>>; ends: (() => void)[] }>();

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  get living(): SimWorker[] {
    return this.#workers.filter(({ life, failed }) => !life.dead && !failed);
  }

  /** How many ever lived. */
  get started(): number {
    return this.#started;
  }

  /** A new worker of a new epoch: whoever works beside it with an older one is a zombie. */
  start(): SimWorker {
    const { ground, config, weather, draw } = this.#options;
    const name = `w${++this.#started}`;
    const life: Life = { dead: false, effort: ground.effort };
    this.#held.set(life, { queues: new Map(), ends: [] });
    const skewMs = weather.plan["clock-skew"] > 0 ? Math.round((draw.next() * 2 - 1) * config.clockSkewMs) : 0;
    const mine = { ...config, epoch: this.#started };
    const services = crawlWorker({
      config: mine,
      fetchers: limits.fetchers,
      onBroken: (error) => worker.running?.stop("broken", error),
      ports: this.#ports(name, life, skewMs),
    });
    const worker: SimWorker = { name, life, services, failed: false };
    this.#workers.push(worker);
    this.#newest = worker;
    this.#begin(worker, mine).catch(() => {
      worker.failed = true; // the repair met a fault: as a command that ends with its exit code
    });
    return worker;
  }

  #ports(name: string, life: Life, skewMs: number): WorkerPorts {
    const { ground, weather, draw, http, hostQueue, spectator, log = () => {} } = this.#options;
    const clock = mortalClock(ground.clock, life, skewMs);
    const tableOf = (each: TableName): VersionedTable =>
      mortalTable(faultyTable(each === "urls" ? seen(ground.tables.urls, spectator) : ground.tables[each], weather), life);
    const { ends } = this.#held.get(life)!;
    const queueOf = (queue: Queue, mayLose: boolean): Queue =>
      mortalQueue(faultyQueue(this.#noting(queue, life), weather, mayLose), life, (end) => ends.push(end));
    return {
      clock,
      random: draw,
      metrics: ground.metrics,
      log,
      http: mortalHttp(http({ name, life, clock }), life),
      archive: mortalArchive(faultyArchive(ground.archive, weather), life),
      documents: mortalLines(faultyLines(ground.documents, weather), life),
      events: mortalEvents(faultyEvents(ground.events, weather), life),
      parser: mortalParser(faultyParser(ground.parser, weather), life),
      gunzip,
      tables: Object.fromEntries(tableNames.map((each) => [each, tableOf(each)])) as RawTables,
      queues: {
        discover: queueOf(heard(ground.queues.discover, spectator), false),
        reparse: queueOf(ground.queues.reparse, false),
        host: queueOf(hostQueue(), true),
      },
    };
  }

  /** As the crawl command begins: repair, then the job. */
  async #begin(worker: SimWorker, config: CrawlConfig): Promise<void> {
    const { ground, weather, seeds, spectator } = this.#options;
    const { services } = worker;
    const orders = faultyOrders(ordersHeard(this.#options.orders, ground.clock), weather);
    await repair({ services, sweepShards: config.sweepShards });
    const definitions = crawlDefinitions.map((definition) =>
      faultyDefinition(definition, weather, (frontier) => spectator.frontier(frontier.ready.length)),
    );
    worker.running = launchCrawl({ services, config, seeds, orders, idleHorizonMs: 0, stopWhenIdle: false, definitions });
    await worker.running.ended;
    worker.failed = true;
    this.#giveBack(worker.life);
  }

  /** As kill -9: nothing of it goes on, what it held comes again. */
  kill(worker: SimWorker): void {
    worker.life.dead = true;
    this.#bury();
  }

  /** Buries those that died by themselves and makes sure that somebody works. */
  tend(): void {
    this.#bury();
    if (this.living.length === 0) this.start();
  }

  /** Whoever works beside a newer job that has died is fenced off for good: somebody starts the job anew. */
  renew(): void {
    this.tend();
    if (!this.living.includes(this.#newest!)) this.start();
  }

  /** At the end of a run: whatever anybody holds is laid down. */
  putDown(): void {
    for (const { life } of this.#workers) this.#giveBack(life);
  }

  #bury(): void {
    const living = this.living;
    const dead = this.#workers.filter((worker) => !living.includes(worker));
    this.#workers = living;
    for (const { life, name } of dead) {
      this.#giveBack(life);
      for (const end of this.#held.get(life)?.ends ?? []) end();
      this.#held.delete(life);
      this.#options.spectator.crashed(name);
    }
  }

  #giveBack(life: Life): void {
    for (const [queue, ids] of this.#held.get(life)?.queues ?? []) {
      void queue.release([...ids]);
      ids.clear();
    }
  }

  /** The same queue, noting what the worker holds of it. */
  #noting(queue: Queue, life: Life): Queue {
    const ids = new Set<string>();
    this.#held.get(life)!.queues.set(queue, ids);
    return {
      ...queue,
      pull: (max) =>
        queue.pull(max).then((messages) => {
          for (const { id } of messages) ids.add(id);
          return messages;
        }),
      acknowledge(done) {
        for (const id of done) ids.delete(id);
        return queue.acknowledge(done);
      },
    };
  }
}

function seen(table: VersionedTable, { recorded }: Spectator): VersionedTable {
  if (recorded === undefined) return table;
  return {
    ...table,
    insertIfAbsent: (rows) =>
      table.insertIfAbsent(rows).then((inserted) => {
        for (const [index, row] of rows.entries()) if (inserted[index]) recorded(row.key);
        return inserted;
      }),
  };
}

function heard(queue: Queue, { discovered }: Spectator): Queue {
  if (discovered === undefined) return queue;
  return {
    ...queue,
    publish(bodies) {
      for (const body of bodies) discovered(decode(discoverMessage, body));
      return queue.publish(bodies);
    },
  };
}
