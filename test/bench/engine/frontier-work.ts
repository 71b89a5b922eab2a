// What does HostFrontier itself cost on a runner? Hosts with URLs in tables in memory; a sink in place of Fetch writes each lease's end and reports it.
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import type { AnyDefinition } from "../../../beam/pardo.ts";
import { buildPipeline } from "../../../beam/pipeline.ts";
import type { RawTables } from "../../../pipelines/worker.ts";
import type { Clock } from "../../../ports/clock.ts";
import { encode } from "../../../schemas/codec.ts";
import { type FetchLease, fetchLease } from "../../../schemas/lease.ts";
import { type HostMessage, hostQueueMessage } from "../../../schemas/messages.ts";
import { robotsState } from "../../../schemas/robots-state.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import { priorities } from "../../../schemas/url-state.ts";
import { hostFrontier } from "../../../transforms/host-frontier.ts";
import { readHost } from "../../../transforms/read-queues.ts";
import type { CrawlServices } from "../../../transforms/services.ts";
import { frontierServices, seedHosts, writeCompletion } from "../capacity/frontier-services.ts";
import { configOf, memoryTables, numbersOfUrl, paceKeyOfNumber, robotsOfNumber, START } from "../capacity/given.ts";
import type { EngineCase, Load } from "./cases.ts";
import { type Leases, noLeases, sawLease, type Work } from "./leases.ts";

const none = {};
const DAY_MS = 86_400_000;
/** Messages of one publication. */
const PORTION = 1_000;

interface Crawl {
  raw: RawTables;
  services: CrawlServices;
  clock: Clock;
  delayMs: number;
  seen: Leases;
}

/** Two visits of its host a lease: the grant and the report. */
export async function frontierWork(given: EngineCase, clock: Clock): Promise<Work> {
  const { hosts, delayMs } = given;
  const raw = memoryTables();
  await seedHosts(raw, { hosts, urlsOf: () => urlsOf(given), dueOf });
  await freshRobots(raw, hosts, clock.now());
  const config = configOf(delayMs);
  const services = frontierServices(raw, clock, config);
  const seen = noLeases();
  const sink = reporting({ raw, services, clock, delayMs, seen });
  await wakeAll(services, given, clock.now());
  const proto = buildPipeline((p) => {
    const host = p.source("ReadHost", readHost, {});
    const { leases } = p.keyed("HostFrontier", hostFrontier, config, host.messages);
    p.each("Fetch", sink, {}, p.reshuffle("SpreadLeases", leases));
  });
  return { proto, definitions: [readHost, hostFrontier, sink] as unknown as readonly AnyDefinition[], services, seen };
}

/** As many as a host can be asked for, so that none runs out. */
function urlsOf({ seconds, delayMs }: Load): number {
  return Math.ceil(((seconds + 2) * 1000) / delayMs);
}

function dueOf(_host: number, url: number): number {
  return START - DAY_MS + url;
}

/** Rules that hold today, in place of those of START. */
async function freshRobots(raw: RawTables, hosts: number, now: number): Promise<void> {
  const times = { fetchedAt: now, expiresAt: now + DAY_MS };
  for (let host = 0; host < hosts; host++) {
    const paceKey = paceKeyOfNumber(host);
    const value = Uint8Array.from(encode(robotsState, { ...robotsOfNumber(host), ...times }));
    await raw.robots.put([{ key: rowKey(paceKey, `https://${paceKey}`), rev: "0", value }]);
  }
}

async function wakeAll({ queues }: CrawlServices, { hosts, delayMs }: Load, now: number): Promise<void> {
  for (let from = 0; from < hosts; from += PORTION) {
    const bodies = Array.from({ length: Math.min(PORTION, hosts - from) }, (_, index) => {
      const at = now + (((from + index) * 7919) % delayMs); // a prime: they begin apart
      return encode(hostQueueMessage, { kind: "host", message: { kind: "wake", paceKey: paceKeyOfNumber(from + index), at } });
    });
    await queues.host.publish(bodies);
  }
}

/** A request without latency at the lease's time: its end is written, then reported. */
function reporting({ raw, services, clock, delayMs, seen }: Crawl): DoFnDefinition<FetchLease, typeof none, object, unknown> {
  const end = (lease: FetchLease): void => {
    const now = clock.now();
    const { host, url } = numbersOfUrl(lease.url);
    const times = { now, dueBefore: dueOf(host, url), dueAt: now + DAY_MS };
    writeCompletion(raw, lease, { ...times, priorityBefore: priorities.discovery, priority: priorities.revisit });
    const { paceKey, leaseId, urlId, hostKey } = lease;
    const message: HostMessage = {
      ...{ kind: "report", paceKey, leaseId, urlId, hostKey },
      ...{ fetched: true, result: "fetched", at: now, nextDueAt: now + DAY_MS, nextStartAt: now + delayMs + 1 },
    };
    void services.queues.host.publish([encode(hostQueueMessage, { kind: "host", message })]);
  };
  return {
    ...{ form: "each", name: "Fetch", input: fetchLease, outputs: none },
    make: () => ({
      process(lease) {
        const now = clock.now();
        if (now >= seen.until) return;
        sawLease(seen, now, Math.max(0, now - lease.notBefore));
        if (now >= lease.notBefore) end(lease);
        else clock.after(lease.notBefore - now, () => end(lease));
      },
    }),
  };
}
