// What is a run made of? The world, its weather, the ground that the workers stand on, and those who watch, all of one seed.
import { memoryMetrics } from "../../io/metrics.ts";
import { memoryQueue } from "../../io/queues/memory-queue.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { type VirtualClock, virtualClock } from "../lib/virtual-clock.ts";
import { chance } from "./chance.ts";
import { type Checker, type SimFacts, Violations } from "./checkers/checker.ts";
import { Cluster } from "./cluster.ts";
import { type Effort, effortOf } from "./effort.ts";
import { maybeDieSoon } from "./fate.ts";
import type { Weather } from "./faults.ts";
import { type Ground, groundOf } from "./ground.ts";
import { ordersOf, type SimOrder } from "./orders.ts";
import { type FaultPlan, isFaultless, planOf } from "./plan.ts";
import { simConfig } from "./sim-config.ts";
import { simHttp } from "./sim-http.ts";
import { newWire, type Wire, type WireObserver } from "./wire.ts";
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
  /** Called every few virtual seconds. "end": no more is done, and the ends are not judged. */
  look?: (progress: SimProgress) => "end" | undefined;
}

export interface SimProgress {
  phase: "storm" | "calm";
  requests: number;
  virtualMs: number;
}

/** Faults may happen until it has ended. */
type Storm = Weather & { endedAt?: number };

/** What the phases of a run share. */
export interface Run {
  options: SimOptions;
  clock: VirtualClock;
  wire: Wire;
  effort: Effort;
  world: World;
  config: CrawlConfig;
  orders: readonly SimOrder[];
  weather: Storm;
  ground: Ground;
  cluster: Cluster;
  checkers: Checker[];
  /** The harness's own: a run that does not end, a world that does not know itself. */
  violations: Violations;
  stepMs: number;
  /** The look before which somebody last asked for something, Unix ms. */
  askedAt: number;
}

export const START = Date.UTC(2026, 0, 1, 23, 54); // a day ends within the run
const SPAN_MS = 30 * 86_400_000; // within which the world's changes lie
export const STEP_MS = 2_000; // between two looks at whether it is enough
export const STEP_MS_MAX = 10 * 60_000; // while nobody asks for anything
const STEPS_AT_ONCE_MAX = 100_000; // of the clock at one virtual time
const STORE_MS_MAX = 30_000; // from an answer to its durable release, with ten slow calls between

/** The first worker has begun, and no time has passed. */
export function begin(options: SimOptions, digest: WireObserver): Run {
  const { seed, hosts, fetches } = options;
  const plan = options.plan ?? planOf(seed);
  const clock = virtualClock(START, { stepsAtOnceMax: STEPS_AT_ONCE_MAX });
  const violations = new Violations();
  const effort = effortOf({ hosts, spent: (words) => clock.halt(words) });
  const world = makeWorld({ seed, hosts, startAt: START, spanMs: SPAN_MS });
  const config = simConfig(world, plan);
  const orders = ordersOf(world);
  const checkers = options.checkers({
    world,
    config,
    orders,
    now: () => clock.now(),
    faultless: isFaultless(plan),
    requestsMin: Math.min(100, fetches / 10),
    workersAtOnce: plan.zombie > 0 ? 2 : 1,
    ...(plan["store-slow"] > 0 ? { storeMsMax: STORE_MS_MAX } : {}),
  });
  const wire = newWire([...checkers, digest, { arrived: () => effort.request() }]);
  const ground = groundOf({ clock, effort, metrics: memoryMetrics(), checkers, violations });
  const weather: Storm = { plan, clock, draw: chance(seed, "weather"), stormy: () => weather.endedAt === undefined };
  const cluster = clusterOf({ options, clock, wire, world, config, orders, weather, ground, checkers });
  cluster.start();
  return {
    options,
    clock,
    wire,
    effort,
    world,
    config,
    orders,
    weather,
    ground,
    cluster,
    checkers,
    violations,
    stepMs: STEP_MS,
    askedAt: START,
  };
}

function clusterOf(
  run: Pick<Run, "options" | "clock" | "wire" | "world" | "config" | "orders" | "weather" | "ground" | "checkers">,
): Cluster {
  const { options, clock, wire, world, config, orders, weather, ground, checkers } = run;
  const hearing = (hook: keyof Checker): Checker[] => checkers.filter((checker) => checker[hook] !== undefined);
  const [discovered, recorded, frontier] = [hearing("discovered"), hearing("recorded"), hearing("frontier")];
  return new Cluster({
    ground,
    config,
    weather,
    draw: chance(options.seed, "workers"),
    http: ({ name, life, clock: workerClock }) =>
      simHttp({ world, wire, clock, workerClock, worker: name, life, answered: () => maybeDieSoon(weather, life) }),
    hostQueue: memoryQueue,
    seeds: [`http://${world.hosts[0]!.name}/`],
    orders,
    spectator: {
      frontier: (ready) => {
        for (const checker of frontier) checker.frontier!(ready);
      },
      crashed: (worker) => {
        for (const checker of checkers) checker.crashed?.(worker);
      },
      ...(discovered.length > 0 && {
        discovered: (message) => {
          for (const checker of discovered) checker.discovered!(message);
        },
      }),
      ...(recorded.length > 0 && {
        recorded: (key) => {
          for (const checker of recorded) checker.recorded!(key);
        },
      }),
    },
    ...(options.log === undefined
      ? {}
      : {
          log: (level: string, message: string, fields?: object) =>
            options.log!(`${level} ${message} ${JSON.stringify(fields)}`),
        }),
  });
}
