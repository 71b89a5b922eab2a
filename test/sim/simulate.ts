// The real pipeline in a seeded world: the embedded engine unchanged, a virtual clock, stores in memory, a virtual web, and faults.
import { createHash } from "node:crypto";
import { memoryMetrics } from "../../io/metrics.ts";
import { memoryArchive, memoryEvents, memoryLines } from "../../io/objects/memory.ts";
import { memoryQueue } from "../../io/queues/memory-queue.ts";
import { memoryTable } from "../../io/stores/memory-table.ts";
import { crawlTables, observedEvents, type RawTables, tableNames } from "../../pipelines/worker.ts";
import type { Queue } from "../../ports/queue.ts";
import { decode } from "../../schemas/codec.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";
import { discoverMessage } from "../../schemas/messages.ts";
import { repair } from "../../transforms/repair.ts";
import { virtualClock } from "../lib/virtual-clock.ts";
import { type Chance, chance } from "./chance.ts";
import type { Checker, SimFacts } from "./checkers/checker.ts";
import { Cluster, type Ground } from "./cluster.ts";
import type { Weather } from "./faults.ts";
import { type FaultPlan, isFaultless, planOf } from "./plan.ts";
import { newWire, simHttp, type WireObserver } from "./sim-http.ts";
import { makeWorld, type World } from "./world.ts";

export interface SimOptions {
  seed: number;
  hosts: number;
  /** Requests after which no more are awaited. */
  fetches: number;
  checkers: (facts: SimFacts) => Checker[];
  /** Instead of the seed's own. */
  plan?: FaultPlan;
  log?: (line: string) => void;
}

export interface SimResult {
  requests: number;
  virtualMs: number;
  workers: number;
  digest: string;
  plan: FaultPlan;
  checkers: Checker[];
  metrics: ReturnType<typeof memoryMetrics>;
}

const START = Date.UTC(2026, 0, 1);
const SPAN_MS = 30 * 86_400_000; // within which the world's changes lie
const STEP_MS = 10_000; // between two looks at whether it is enough
const CALM_SHARE = 0.8; // of the requests are made while faults may happen
const SETTLE_MS = 30 * 60_000; // calm time before the last look: back-offs of the storm are over then
const STOP_MS = 120_000; // given to what is under way at the end
const STORE_MS_MAX = 30_000; // from an answer to its durable release, with ten slow calls between
const VIRTUAL_MS_MAX = 400 * 86_400_000; // a run in which too little happens ends here
const KEEP = 1_000; // records, lines and events that stay in memory

export async function simulate(options: SimOptions): Promise<SimResult> {
  const { seed, hosts, fetches } = options;
  const plan = options.plan ?? planOf(seed);
  const clock = virtualClock(START);
  const world = makeWorld({ seed, hosts, startAt: START, spanMs: SPAN_MS });
  const config = simConfig(world, plan);
  const checkers = options.checkers({
    world,
    config,
    now: () => clock.now(),
    faultless: isFaultless(plan),
    requestsMin: Math.min(100, fetches / 10),
    ...(plan["store-slow"] > 0 ? { storeMsMax: STORE_MS_MAX } : {}),
  });
  const digest = digester();
  const wire = newWire([...checkers, digest]);
  const metrics = memoryMetrics();
  const ground: Ground = {
    clock,
    metrics,
    tables: Object.fromEntries(tableNames.map((name) => [name, memoryTable()])) as RawTables,
    queues: { discover: memoryQueue(), reparse: memoryQueue() },
    archive: memoryArchive({ keep: KEEP }),
    documents: memoryLines({ keep: KEEP }),
    events: observedEvents(memoryEvents({ keep: KEEP }), (kind, event) => {
      for (const checker of checkers) checker.published?.(kind, event);
    }),
  };
  const each = (run: (checker: Checker) => void): void => checkers.forEach(run);
  const look = (): void => {
    for (const { running, services } of cluster.living) {
      if (running !== undefined) each((checker) => checker.engine?.(running.stats(), services.pool.held));
    }
  };
  let stormy = true;
  const weather: Weather = { plan, clock, draw: chance(seed, "weather"), stormy: () => stormy };
  const cluster = new Cluster({
    ground,
    config,
    weather,
    draw: chance(seed, "workers"),
    http: ({ name, life, clock: workerClock }) =>
      simHttp({ world, wire, clock, workerClock, worker: name, answered: () => maybeDieSoon(weather, life) }),
    hostQueue: memoryQueue,
    seeds: [`http://${world.hosts[0]!.name}/`],
    spectator: {
      discovered: (message) => each((checker) => checker.discovered?.(message)),
      recorded: (key) => each((checker) => checker.recorded?.(key)),
      frontier: (ready) => each((checker) => checker.frontier?.(ready)),
      crashed: (worker) => each((checker) => checker.crashed?.(worker)),
    },
    ...(options.log === undefined
      ? {}
      : {
          log: (level: string, message: string, fields?: object) =>
            options.log!(`${level} ${message} ${JSON.stringify(fields)}`),
        }),
  });
  cluster.start();

  const fate = chance(seed, "fate");
  const enough = (): boolean => clock.now() - START > VIRTUAL_MS_MAX;
  while (wire.requests < fetches * CALM_SHARE && !enough()) {
    await clock.run(clock.now() + STEP_MS);
    strike(cluster, weather, fate);
    look();
  }
  stormy = false;
  const faultsEndedAt = clock.now();
  while ((wire.requests < fetches || clock.now() < faultsEndedAt + SETTLE_MS) && !enough()) {
    await clock.run(clock.now() + STEP_MS);
    cluster.tend();
    look();
  }
  const stoppedAt = clock.now();
  for (const { running } of cluster.living) running?.stop("done");
  await clock.run(clock.now() + STOP_MS);

  const services = cluster.workers.at(-1)!.services;
  cluster.putDown();
  const discover = (await left(ground.queues.discover)).map((body) => decode(discoverMessage, body));
  const undelivered = { discover, reparse: (await left(ground.queues.reparse)).length };
  const tables = crawlTables(ground.tables, chance(seed, "judge"));
  await repair({
    services: { ...services, tables, queues: { ...services.queues, ...ground.queues }, events: ground.events, clock },
    sweepShards: config.sweepShards,
  });
  for (const checker of checkers) await checker.finish?.({ tables, now: clock.now(), stoppedAt, faultsEndedAt, undelivered });
  return {
    requests: wire.requests,
    virtualMs: clock.now() - START,
    workers: cluster.workers.length,
    digest: digest.value(),
    plan,
    checkers,
    metrics,
  };
}

/** What a worker that was stopped has left in a queue. */
async function left(queue: Queue): Promise<Uint8Array[]> {
  const messages = await queue.pull(Number.MAX_SAFE_INTEGER);
  return messages.map(({ body }) => body);
}

const DEATHS = 0.08; // of the looks, with a fault of strength 1: about one in two virtual minutes
const CALLS_MAX = 60; // port calls that a lease makes after its answer, and some

/** Deaths, zombies and lost engines, as the plan has them. */
function strike(cluster: Cluster, { plan, draw }: Weather, fate: Chance): void {
  const [oldest] = cluster.living;
  if (oldest !== undefined && fate.flip(plan.crash * DEATHS)) oldest.life.callsLeft = draw.whole(1, CALLS_MAX);
  if (oldest !== undefined && fate.flip(plan["forgetful-engine"] * DEATHS)) cluster.kill(oldest);
  if (plan.zombie > 0 && fate.flip(plan.zombie * DEATHS * 2)) {
    if (cluster.living.length < 2) cluster.start();
    else cluster.kill(cluster.living[fate.whole(0, 1)]!);
  }
  cluster.tend();
}

function maybeDieSoon({ plan, draw, stormy }: Weather, life: { callsLeft?: number }): void {
  if (
    plan["crash-after-answer"] > 0 &&
    stormy() &&
    life.callsLeft === undefined &&
    draw.flip(plan["crash-after-answer"] * 0.002)
  ) {
    life.callsLeft = draw.whole(1, CALLS_MAX);
  }
}

const SKEW_MS = 200; // between any worker's clock and true time: the design's bound

function simConfig(world: World, plan: FaultPlan): CrawlConfig {
  const policies = world.hosts.flatMap((host) => (host.agreed === undefined ? [] : [{ host: host.name, ...host.agreed }]));
  return {
    userAgent: "Gleaner/sim",
    productToken: "Gleaner",
    scope: { mode: "any", hosts: [], domains: [], rules: [] },
    sitemaps: false,
    depthMax: 40,
    pagesPerHost: limits.pagesPerHost,
    delayMs: limits.delayMs,
    hostConcurrency: 1,
    requestMs: limits.requestMs,
    acceptTypes: [],
    documents: false,
    policies,
    policyVersion: 1,
    epoch: 1,
    sweepShards: 1,
    clockSkewMs: plan["clock-skew"] > 0 ? SKEW_MS : 0,
  };
}

/** Of everything that went over the wire, in order. */
function digester(): WireObserver & { value(): string } {
  const hash = createHash("sha256");
  return {
    arrived: (entry) => void hash.update(`> ${entry.at} ${entry.worker} ${entry.scheme}//${entry.host}${entry.path}\n`),
    answered: (entry) => void hash.update(`< ${entry.answeredAt} ${entry.host} ${entry.serial} ${entry.status}\n`),
    value: () => hash.digest("hex"),
  };
}
