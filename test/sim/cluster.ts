// Who works in this run? Workers on shared stores, each with its own engine, clock and ports; they die, overlap and are replaced.
import { crawlDefinitions } from "../../pipelines/crawl.ts";
import { launchCrawl, type RunningCrawl } from "../../pipelines/launch.ts";
import { crawlWorker } from "../../pipelines/worker.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";
import { patiently } from "../../transforms/patience.ts";
import { repair } from "../../transforms/repair.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import { faultyDefinition } from "./engine-faults.ts";
import { faultyOrders } from "./faults.ts";
import { emptyHands, type Hands } from "./hands.ts";
import { die, type Life } from "./life.ts";
import { heardOrders, type SimOrder } from "./orders.ts";
import { type PortsOptions, workerPorts } from "./worker-ports.ts";

export interface SimWorker {
  name: string;
  life: Life;
  hands: Hands;
  services: CrawlServices;
  /** Set when the repair that each start begins with is done. */
  running?: RunningCrawl;
  /** The job ended by itself: too many failed bundles, a broken store. */
  failed: boolean;
}

export interface ClusterOptions extends PortsOptions {
  config: CrawlConfig;
  seeds: readonly string[];
  orders: readonly SimOrder[];
}

export class Cluster {
  /** Those who were not buried yet, the oldest first. */
  #workers: SimWorker[] = [];
  readonly #options: ClusterOptions;
  #started = 0;
  #newest: SimWorker | undefined;

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
    const hands = emptyHands();
    const name = `w${++this.#started}`;
    const life: Life = { dead: false, effort: ground.effort, died: () => this.#options.spectator.crashed(name) };
    const skewMs = weather.plan["clock-skew"] > 0 ? Math.round((draw.next() * 2 - 1) * config.clockSkewMs) : 0;
    const mine = { ...config, epoch: this.#started };
    const services = crawlWorker({
      config: mine,
      fetchers: limits.fetchers,
      onBroken: (error) => worker.running?.stop("broken", error),
      ports: workerPorts(this.#options, { name, life, skewMs, hands }),
    });
    const worker: SimWorker = { name, life, hands, services, failed: false };
    this.#workers.push(worker);
    this.#newest = worker;
    this.#begin(worker, mine).catch(() => {
      worker.failed = true; // the repair met a fault: as a command that ends with its exit code
    });
    return worker;
  }

  /** As the crawl command begins (pipelines/commands/run-crawl.ts): the orders, without which nobody is asked, repair, then the job. */
  async #begin(worker: SimWorker, config: CrawlConfig): Promise<void> {
    const { ground, weather, seeds, spectator } = this.#options;
    const { services } = worker;
    const orders = faultyOrders(heardOrders(this.#options.orders, ground.clock), weather);
    services.live.order(await patiently(services, orders.read));
    await repair({ services, sweepShards: config.sweepShards });
    const definitions = crawlDefinitions.map((definition) =>
      faultyDefinition(definition, weather, (frontier) => spectator.frontier(frontier.ready.length)),
    );
    worker.running = launchCrawl({
      services,
      config,
      seeds,
      orders: orders.changed,
      idleHorizonMs: 0,
      stopWhenIdle: false,
      definitions,
    });
    await worker.running.ended;
    worker.failed = true;
    worker.hands.giveBack();
  }

  /** As kill -9: nothing of it goes on, what it held comes again. */
  kill(worker: SimWorker): void {
    die(worker.life);
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
    for (const { hands } of this.#workers) hands.giveBack();
  }

  #bury(): void {
    const living = this.living;
    const dead = this.#workers.filter((worker) => !living.includes(worker));
    this.#workers = living;
    for (const { hands, life, name } of dead) {
      hands.giveBack();
      hands.endListening();
      if (!life.dead) this.#options.spectator.crashed(name); // its job ended by itself
    }
  }
}
