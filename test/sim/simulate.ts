// The real pipeline in a seeded world: the embedded engine unchanged, a virtual clock, stores in memory, a virtual web, and faults.
import { crawlTables } from "../../pipelines/worker.ts";
import type { Queue } from "../../ports/queue.ts";
import { decode } from "../../schemas/codec.ts";
import { discoverMessage } from "../../schemas/messages.ts";
import { repair } from "../../transforms/repair.ts";
import { Halted } from "../lib/virtual-clock.ts";
import { calmEnds } from "./calm.ts";
import { chance } from "./chance.ts";
import type { Checker, FinalState } from "./checkers/checker.ts";
import { digester } from "./digester.ts";
import { strike } from "./fate.ts";
import type { Ground } from "./ground.ts";
import type { FaultPlan } from "./plan.ts";
import { begin, type Run, type SimOptions, type SimProgress, START, STEP_MS, STEP_MS_MAX } from "./run-parts.ts";

export interface SimResult {
  requests: number;
  virtualMs: number;
  workers: number;
  digest: string;
  plan: FaultPlan;
  checkers: Checker[];
  metrics: Ground["metrics"];
  /** It was ended by its look: what only the end of a run shows was not judged. */
  cut: boolean;
}

const CALM_SHARE = 0.8; // of the requests are made while faults may happen
const STOP_MS = 120_000; // given to what is under way at the end
const DAY_MS = 86_400_000;
const VIRTUAL_MS_MAX = 400 * DAY_MS; // a run in which too little happens ends here
const FIRST_MS_MAX = DAY_MS; // until the first request: the seed's host is up, and has rules
const IDLE_MS_MAX = 45 * DAY_MS; // between two: the longest wait for a revisit is 30 days

export async function simulate(options: SimOptions): Promise<SimResult> {
  const digest = digester();
  const run = begin(options, digest);
  const { clock, wire, cluster, weather, ground, violations } = run;
  let cut = false;
  try {
    cut = (await storm(run)) || (await calm(run));
    if (!cut) await finish(run);
  } catch (error) {
    if (!(error instanceof Halted)) throw error;
    violations.add(error.message);
  }
  return {
    requests: wire.requests,
    virtualMs: clock.now() - START,
    workers: cluster.started,
    digest: digest.value(),
    plan: weather.plan,
    checkers: [...run.checkers, harness(run)],
    metrics: ground.metrics,
    cut,
  };
}

/** True where it was cut. */
async function storm(run: Run): Promise<boolean> {
  const { options, clock, wire, cluster, weather } = run;
  const fate = chance(options.seed, "fate");
  while (wire.requests < options.fetches * CALM_SHARE && !tooLong(run)) {
    if (await goOn(run, "storm")) return true;
    if (run.stepMs === STEP_MS) strike(cluster, weather, fate);
    else cluster.tend(); // where nothing goes on, nothing goes wrong
    // Who begins and fails begins again soon, and not for ever at the minute in which the disk is full.
    if (!cluster.living.some(({ running }) => running !== undefined)) run.stepMs = STEP_MS;
  }
  weather.endedAt = clock.now();
  return false;
}

/** Without faults, until what they held up has been taken up again. True where it was cut. */
async function calm(run: Run): Promise<boolean> {
  const { options, clock, wire, cluster, config, orders, ground, world } = run;
  cluster.renew();
  const tables = crawlTables(ground.tables, chance(options.seed, "onlooker"));
  const ends = calmEnds({ tables, config, orders, wire, clock, hosts: world.hosts.map(({ name }) => name) });
  while (!tooLong(run)) {
    if (await goOn(run, "calm")) return true;
    cluster.renew();
    const settled = cluster.living.every(({ running }) => running !== undefined);
    if (settled && wire.requests >= options.fetches && (await ends())) return false;
  }
  return false;
}

function tooLong({ clock }: Run): boolean {
  return clock.now() - START > VIRTUAL_MS_MAX;
}

/** Throws Halted where the crawl has come to a standstill: nobody would learn more from the days that are left. */
function mustGoOn({ clock, wire, askedAt }: Run): void {
  const idleMs = clock.now() - askedAt;
  if (idleMs > (wire.requests === 0 ? FIRST_MS_MAX : IDLE_MS_MAX))
    throw new Halted(`nobody has asked for anything for ${(idleMs / DAY_MS).toFixed(1)} days, after ${wire.requests} requests`);
}

async function goOn(run: Run, phase: SimProgress["phase"]): Promise<boolean> {
  const { options, clock, wire, effort, cluster, checkers } = run;
  const before = wire.requests;
  await clock.run(clock.now() + run.stepMs);
  run.stepMs = wire.requests > before ? STEP_MS : Math.min(2 * run.stepMs, STEP_MS_MAX);
  if (wire.requests > before) run.askedAt = clock.now();
  mustGoOn(run);
  effort.renew();
  for (const { running, services } of cluster.living) {
    if (running === undefined) continue;
    for (const checker of checkers) checker.engine?.(running.stats(), services.pool.held);
  }
  return options.look?.({ phase, requests: wire.requests, virtualMs: clock.now() - START }) === "end";
}

/** Stops the workers, repairs as a start does, and lets the checkers look at what stands. */
async function finish({ options, clock, cluster, ground, checkers, weather }: Run): Promise<void> {
  const stoppedAt = clock.now();
  for (const { running } of cluster.living) running?.stop("done");
  const { services } = cluster.living.at(-1)!;
  await clock.run(clock.now() + STOP_MS);
  cluster.putDown();
  const discover = (await left(ground.queues.discover)).map((body) => decode(discoverMessage, body));
  const reparse = (await left(ground.queues.reparse)).length;
  const tables = crawlTables(ground.tables, chance(options.seed, "judge"));
  await repair({
    services: { ...services, tables, queues: { ...services.queues, ...ground.queues }, events: ground.events, clock },
    sweepShards: 1,
  });
  // A completion whose store failed may not have told of a page to be parsed: the start that repairs it does.
  const undelivered = { discover, reparse: reparse + (await left(ground.queues.reparse)).length };
  const final: FinalState = { tables, now: clock.now(), stoppedAt, faultsEndedAt: weather.endedAt ?? stoppedAt, undelivered };
  for (const checker of checkers) await checker.finish?.(final);
}

/** What a worker that was stopped has left in a queue. */
async function left(queue: Queue): Promise<Uint8Array[]> {
  const messages = await queue.pull(Number.MAX_SAFE_INTEGER);
  return messages.map(({ body }) => body);
}

function harness({ violations, effort, ground }: Run): Checker {
  const figures = () => ({ ...ground.parsed, effortMost: effort.most });
  return { name: "harness", violations, figures };
}
