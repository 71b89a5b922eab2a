// A crawl on the embedded engine from its first sweep to its end: the ticker, the watch for idleness and limits, the clean stop.

import { type EmbeddedJob, runEmbedded } from "../beam/embedded/run-embedded.ts";
import type { AnyDefinition } from "../beam/pardo.ts";
import { dofnRegistry } from "../beam/registry.ts";
import { encode } from "../schemas/codec.ts";
import type { CrawlConfig, HostPolicies } from "../schemas/crawl-config.ts";
import { hostQueueMessage } from "../schemas/messages.ts";
import { publishDiscoveries } from "../transforms/fetch/publish.ts";
import type { CrawlServices } from "../transforms/services.ts";
import { crawlDefinitions, crawlPipeline } from "./crawl.ts";
import { type Deferred, outlookOfAll } from "./outlook.ts";
import { repeat } from "./repeat.ts";
import { keepSweeping, sweepAll } from "./sweeps.ts";

export interface LaunchOptions {
  services: CrawlServices;
  config: CrawlConfig;
  seeds: readonly string[];
  /** A crawl with nothing due within this many ms is idle. */
  idleHorizonMs: number;
  stopWhenIdle: boolean;
  /** How long from now messages may come that an earlier process held: the crawl is not idle before, ms. */
  settleMs?: number;
  /** What an operator has ordered of hosts, where that may have changed since the last call; the first gives what there is. */
  orders?: () => Promise<HostPolicies | undefined>;
  /** Stand-ins for the DoFns of the graph, by name; for simulated faults of an engine. */
  definitions?: readonly AnyDefinition[];
}

export type EndCause = "done" | "limit" | "interrupted" | "broken";

export interface CrawlEnd {
  cause: EndCause;
  /** Hosts with first fetches or retries that are not due within the horizon, or not allowed. */
  deferred: Deferred[];
  error?: unknown;
}

export interface RunningCrawl {
  readonly ended: Promise<CrawlEnd>;
  /** Admits nothing more, waits for what is under way, and ends; a second call changes nothing. */
  stop(cause: EndCause, error?: unknown): void;
  /** By stage. */
  stats(): ReturnType<EmbeddedJob["stats"]>;
}

/** An order is obeyed within five times as long. */
const ORDERS = { everyMs: 2_000, failed: "orders about hosts cannot be read" };
/** Looks for idleness. */
const WATCH = { everyMs: 200, failed: "whether the crawl is idle cannot be told" };
const QUIET_LOOKS = 2; // in a row before the stores are asked

export function launchCrawl(options: LaunchOptions): RunningCrawl {
  const { services, config, seeds, definitions = crawlDefinitions } = options;
  const { clock, log, metrics, random } = services;
  const job = runEmbedded({
    proto: crawlPipeline(config),
    registry: dofnRegistry<AnyDefinition>(definitions),
    services,
    clock,
    random,
    log,
    metrics,
  });
  let stopping: { cause: EndCause; error?: unknown } | undefined;
  const stop = (cause: EndCause, error?: unknown): void => {
    if (stopping !== undefined) return;
    stopping = { cause, error };
    void job.stop();
  };

  const endSweeps = keepSweeping(services, config);
  const takeOrders = orderTaker(options);
  const endOrders = options.orders === undefined ? () => {} : repeat(services, ORDERS, takeOrders);
  const endWatch = watchForEnd({ ...options, quiet: () => job.quiet(), stop });
  const start = async (): Promise<void> => {
    await takeOrders();
    if (seeds.length > 0)
      await publishDiscoveries(services, { source: "seed", depth: 0, hops: 0, kind: "page", urls: [...seeds] });
    await sweepAll(services, config);
  };
  void start().catch((error) => stop("broken", error));

  const ended = job.done.then(async (end): Promise<CrawlEnd> => {
    endSweeps();
    endOrders();
    endWatch();
    const { cause, error } = stopping ?? { cause: "broken" as const, error: undefined };
    const failed = end.state === "failed";
    const deferred = cause === "broken" ? [] : await deferredHosts(services);
    return { cause: failed ? "broken" : cause, deferred, error: failed ? end.error : error };
  });
  return { ended, stop, stats: () => job.stats() };
}

/** What is ordered holds from the next admit on; hosts that are named, or were, are woken, since what was paused may go on. */
function orderTaker({ services, orders }: LaunchOptions): () => Promise<void> {
  let before: HostPolicies["hosts"] = [];
  return async () => {
    const policies = await orders?.();
    if (policies === undefined) return;
    services.live.order(policies);
    if (policies.version > 0) await wakeNamed(services, policies, before);
    before = policies.hosts;
  };
}

async function wakeNamed(
  { clock, log, queues }: CrawlServices,
  policies: HostPolicies,
  before: HostPolicies["hosts"],
): Promise<void> {
  log("info", "host policies were read anew", { version: policies.version, policies: policies.hosts.length });
  const named = new Set([...before, ...policies.hosts].map(({ host }) => host).filter((host) => !host.startsWith("*")));
  const wakes = [...named].map((paceKey) => ({ kind: "wake" as const, paceKey, at: clock.now() }));
  await queues.host.publish(wakes.map((message) => encode(hostQueueMessage, { kind: "host", message })));
}

async function deferredHosts(services: CrawlServices): Promise<Deferred[]> {
  const { deferred } = await outlookOfAll(services, services.live.now(), { now: services.clock.now(), horizonMs: 0 });
  return deferred;
}

interface WatchOptions extends LaunchOptions {
  quiet: () => boolean;
  stop: (cause: EndCause) => void;
}

/** Ends the crawl when nothing more can happen soon, or when its pages are spent. Returns a function that ends the watch. */
function watchForEnd({ services, config, idleHorizonMs, stopWhenIdle, settleMs = 0, quiet, stop }: WatchOptions): () => void {
  if (!stopWhenIdle && config.pagesMax === undefined) return () => {};
  const { budget, clock, pool, queues } = services;
  const settledAt = clock.now() + settleMs;
  let looks = 0;
  const still = async (): Promise<boolean> => {
    if (!quiet() || pool.held > 0) return false;
    const depths = await Promise.all([queues.discover, queues.host, queues.reparse].map((queue) => queue.depth()));
    return depths.every((depth) => depth === 0);
  };
  return repeat(services, WATCH, async () => {
    looks = (await still()) ? looks + 1 : 0;
    if (looks < QUIET_LOOKS || clock.now() < settledAt) return;
    if (budget.left <= 0) return stop("limit");
    if (!stopWhenIdle) return;
    const now = clock.now();
    const outlook = await outlookOfAll(services, services.live.now(), { now, horizonMs: idleHorizonMs, firstOnly: true });
    if (!outlook.soon && quiet() && pool.held === 0) stop("done");
  });
}
