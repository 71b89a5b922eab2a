// How many leases a second does one core grant? HostFrontier unchanged on the embedded engine, a Fetch that reports back at once.
import { parseArgs } from "node:util";
import { runEmbedded } from "../../../beam/embedded/run-embedded.ts";
import { buildPipeline } from "../../../beam/pipeline.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import type { RawTables } from "../../../pipelines/worker.ts";
import { encode } from "../../../schemas/codec.ts";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import { hostQueueMessage } from "../../../schemas/messages.ts";
import { hostFrontier } from "../../../transforms/host-frontier.ts";
import { readHost } from "../../../transforms/read-queues.ts";
import type { CrawlServices } from "../../../transforms/services.ts";
import { sweep } from "../../../transforms/sweep.ts";
import { type VirtualClock, virtualClock } from "../../lib/virtual-clock.ts";
import { profiled, type Shares } from "./cpu-profile.ts";
import { beginOf, dueTimes, type GrantCase } from "./due-times.ts";
import { frontierServices, seedHosts } from "./frontier-services.ts";
import { type Calls, configOf, counted, memoryTables, paceKeyOfNumber, power, printTable, START, say } from "./given.ts";
import { BENCH, benchFrame, groupOf } from "./grant-groups.ts";
import { inChild } from "./in-child.ts";
import { quickFetch } from "./quick-fetch.ts";
import { yardstick } from "./yardstick.ts";

const DEMANDED = 25_000; // grants a second of virtual time
const MEASURED = 3_000; // virtual ms of each window

const CASES: readonly GrantCase[] = [
  { hosts: 10_000, urls: 2, again: "slots" },
  { hosts: 100_000, urls: 2, again: "slots" },
  { hosts: 1_000_000, urls: 2, again: "slots" },
  { hosts: 10_000, urls: 40, again: "queue" },
];

interface GrantFigures extends GrantCase {
  grants: number;
  cpuMicros: number;
  wallMicros: number;
  benchShare: number;
  /** yardstick.ts, before and after the window. */
  yardsticks: [number, number];
  turns: number;
  stateBytes: number;
  tableBytes: number;
  calls: [name: string, calls: number, rows: number][];
  groups: Shares["groups"];
}

export async function benchGrants(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { case: { type: "string" }, hosts: { type: "string", default: "1000000" } } });
  if (values.case !== undefined) return void say(JSON.stringify(await measure(JSON.parse(values.case) as GrantCase)));
  say(`grants: ${DEMANDED} a virtual second demanded, HostFrontier + embedded engine + memory tables, one process a line`);
  const results: GrantFigures[] = [];
  for (const each of CASES.filter(({ hosts }) => hosts <= Number(values.hosts)))
    results.push(await inChild<GrantFigures>(["grants", "--case", JSON.stringify(each)]));
  print(results);
}

function print(results: readonly GrantFigures[]): void {
  const ours = (figures: GrantFigures): number => figures.cpuMicros * (1 - figures.benchShare);
  printTable(
    [
      "hosts x URLs",
      "CPU us/grant",
      "ours",
      "grants/s of a core",
      "wall us",
      "turns/grant",
      "Beam state B/host",
      "tables B/host",
      "yardstick ns",
    ],
    results.map((each) => [
      `${power(each.hosts)} x ${each.urls}${each.again === "queue" ? " long queue" : ""}`,
      each.cpuMicros.toFixed(1),
      ours(each).toFixed(1),
      Math.round(1e6 / ours(each)),
      each.wallMicros.toFixed(1),
      (each.turns / each.grants).toFixed(2),
      Math.round(each.stateBytes),
      Math.round(each.tableBytes),
      each.yardsticks.map((nanos) => nanos.toFixed(0)).join("-"),
    ]),
  );
  say(`"ours" leaves out the share of the bench's own Fetch and clock in a profile; garbage collection is in both.\n`);
  say("table calls a grant (rows in brackets), HostFrontier's alone");
  const names = [...new Set(results.flatMap((each) => each.calls.map(([name]) => name)))].sort();
  const head = results.map((each) => `${power(each.hosts)} x ${each.urls}`);
  printTable(
    ["", ...head],
    names.map((name) => [name, ...results.map((each) => callsOf(each, name))]),
  );
  say("\nwhere the time goes, us a grant");
  const groups = [...new Set(results.flatMap((each) => each.groups.map(([name]) => name)))];
  printTable(
    ["", ...head],
    groups.map((name) => [name, ...results.map((each) => (shareOf(each, name) * each.cpuMicros).toFixed(1))]),
  );
}

function callsOf(figures: GrantFigures, name: string): string {
  const [, calls = 0, rows = 0] = figures.calls.find(([each]) => each === name) ?? [];
  return `${(calls / figures.grants).toFixed(2)} (${(rows / figures.grants).toFixed(2)})`;
}

function shareOf(figures: GrantFigures, name: string): number {
  return figures.groups.find(([each]) => each === name)?.[1] ?? 0;
}

async function measure(given: GrantCase): Promise<GrantFigures> {
  const { hosts, urls } = given;
  const delayMs = Math.round((hosts / DEMANDED) * 1000);
  const config = configOf(delayMs);
  const clock = virtualClock(START);
  const raw = memoryTables();
  const heapBefore = heapBytes();
  const times = dueTimes(given, delayMs);
  await seedHosts(raw, { hosts, urlsOf: () => urls, dueOf: times.first });
  const heapSeeded = heapBytes();
  const calls: Calls = new Map();
  const seen = Object.fromEntries(Object.entries(raw).map(([name, table]) => [name, counted(table, name, calls)])) as RawTables;
  const services = frontierServices(seen, clock, config);
  const fetch = quickFetch({ raw, services, clock, times, hosts, urls });
  const job = start(services, config, fetch.definition);
  await wakeAll(services, clock, hosts, delayMs);
  await clock.run(START + delayMs + MEASURED); // a round of all hosts, and some more: what is measured is the usual turn

  const stateBytes = (heapBytes() - heapSeeded) / hosts;
  const yardBefore = yardstick();
  const turnsOf = (): number => job.stats().HostFrontier?.elements ?? 0;
  const before = { cpu: process.cpuUsage(), wall: performance.now(), grants: fetch.grants(), turns: turnsOf() };
  calls.clear();
  await clock.run(clock.now() + MEASURED);
  const grants = fetch.grants() - before.grants;
  const { user, system } = process.cpuUsage(before.cpu);
  const wallMicros = ((performance.now() - before.wall) * 1000) / grants;
  const counts = [...calls].map(([name, { calls: count, rows }]): [string, number, number] => [name, count, rows]);
  const turns = turnsOf() - before.turns;
  const yardAfter = yardstick();
  const shares = await profiled(() => clock.run(clock.now() + MEASURED), groupOf, benchFrame);
  return {
    ...given,
    grants,
    cpuMicros: (user + system) / grants,
    wallMicros,
    benchShare: shares.share(BENCH),
    yardsticks: [yardBefore, yardAfter],
    turns,
    stateBytes,
    tableBytes: (heapSeeded - heapBefore) / hosts,
    calls: counts,
    groups: shares.groups,
  };
}

function start(services: CrawlServices, config: CrawlConfig, fetch: ReturnType<typeof quickFetch>["definition"]) {
  const proto = buildPipeline((p) => {
    const host = p.source("ReadHost", readHost, {});
    const swept = p.each("Sweep", sweep, {}, host.sweeps);
    const { leases } = p.keyed("HostFrontier", hostFrontier, config, p.flatten("HostNews", host.messages, swept.wakes));
    p.each("Fetch", fetch, {}, p.reshuffle("SpreadLeases", leases));
  });
  const { clock, random, log, metrics } = services;
  return runEmbedded({
    proto,
    registry: dofnRegistry([readHost, sweep, hostFrontier, fetch]),
    services,
    clock,
    random,
    log,
    metrics,
  });
}

async function wakeAll({ queues }: CrawlServices, clock: VirtualClock, hosts: number, delayMs: number): Promise<void> {
  const CHUNK = 10_000;
  for (let from = 0; from < hosts; from += CHUNK) {
    const bodies = Array.from({ length: Math.min(CHUNK, hosts - from) }, (_, index) => {
      const paceKey = paceKeyOfNumber(from + index);
      const at = beginOf(from + index, hosts, delayMs);
      return encode(hostQueueMessage, { kind: "host", message: { kind: "wake", paceKey, at } });
    });
    await queues.host.publish(bodies);
    await clock.run(clock.now());
  }
}

function heapBytes(): number {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
