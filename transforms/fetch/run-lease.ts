// One lease from the pool to its end: read, connect, admit, request, release, store, parse, complete, report (the design's section 4).
import { priorResult } from "../../core/frontier/complete.ts";
import { forgiven } from "../../core/politeness/release.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { encode } from "../../schemas/codec.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import { hostQueueMessage, type Report } from "../../schemas/messages.ts";
import type { UnfetchedReason } from "../../schemas/reasons.ts";
import { rowKey } from "../../schemas/row-key.ts";
import type { CrawlServices } from "../services.ts";
import { finishMarks } from "./complete.ts";
import { fetchPage } from "./fetch-page.ts";
import { fetchRobots } from "./fetch-robots.ts";
import { admitNow, changeHost, hostDesk } from "./host-record.ts";
import { settle } from "./settle.ts";

/** How the lease ended, as its host's frontier must learn it. */
export interface LeaseEnd {
  /** The host's clock lets it start then (Unix ms): it need not go back to the frontier for that. */
  again?: number;
  fetched: boolean;
  result: Report["result"];
  nextDueAt?: number;
  nextStartAt?: number;
  /** What is done behind the report: the host need not wait for it. */
  afterwards?(): Promise<void>;
}

export interface RunOptions {
  services: CrawlServices;
  /** The store can no longer be used: the job must end. */
  onBroken: (error: StoreError) => void;
}

export function leaseRunner({ services, onBroken }: RunOptions): (lease: FetchLease) => Promise<number | undefined> {
  return async (lease) => {
    const config = services.live.now();
    let end: LeaseEnd;
    try {
      end = await runLease(services, config, lease);
    } catch (error) {
      end = unfetched("store");
      services.log("error", "a lease ended by an error of ours or of a store", { url: lease.url, error: String(error) });
      if (error instanceof StoreError) await (error.final ? onBroken(error) : forgive(services, config, lease));
    }
    if (end.again !== undefined && end.again > services.clock.now() && end.again < lease.startBy) return end.again;
    if (!end.fetched) services.metrics.count("gleaner_leases_unfetched_total", 1, { reason: end.result });
    await report(services, lease, end);
    await end.afterwards?.().catch((error) => {
      services.log("warn", "the marks of a completed URL stay for whoever meets them", {
        url: lease.url,
        error: String(error),
      });
      if (error instanceof StoreError && error.final) onBroken(error);
    });
    return undefined;
  };
}

/** A store that fails is not the URL's fault: without this, a minute of a full disk would poison whatever was tried in it. */
async function forgive(services: CrawlServices, config: CrawlConfig, lease: FetchLease): Promise<void> {
  if (lease.kind === "robots") return;
  try {
    await changeHost(services, hostDesk(config, lease.paceKey, false), (host) => forgiven(host, lease));
  } catch (error) {
    services.log("debug", "a try that a store spoiled could not be taken back", { url: lease.url, error: String(error) });
  }
}

/** `until`: when the clock would let it start. */
export function unfetched(reason: UnfetchedReason, until?: number): LeaseEnd {
  return { fetched: false, result: reason, ...(reason === "clock" && until !== undefined ? { again: until } : {}) };
}

/** Ends a lease without running it. A lost report costs the frontier some seconds, so a failing queue is no more than logged. */
export async function report(services: CrawlServices, lease: FetchLease, end: LeaseEnd): Promise<void> {
  const { leaseId, urlId, hostKey, paceKey } = lease;
  const { again: _again, afterwards: _afterwards, ...told } = end;
  const message: Report = { kind: "report", paceKey, leaseId, urlId, hostKey, at: services.clock.now(), ...told };
  try {
    await services.queues.host.publish([encode(hostQueueMessage, { kind: "host", message })]);
  } catch (error) {
    services.log("warn", "a report is lost; its host waits until the lease expires", { paceKey, error: String(error) });
  }
}

async function runLease(services: CrawlServices, config: CrawlConfig, lease: FetchLease): Promise<LeaseEnd> {
  if (services.clock.now() > lease.startBy) return unfetched("late");
  if (lease.kind === "robots") return fetchRobots(services, config, lease);

  const { tables, robots, random } = services;
  const key = rowKey(lease.paceKey, lease.urlId);
  const [[url], [host], [view]] = await Promise.all([
    tables.urls.get([key]),
    tables.hosts.get([rowKey(lease.paceKey)]),
    robots.read(lease.paceKey, [lease.hostKey]),
  ]);
  if (url === undefined) return unfetched("stale");
  if (url.value.marks !== undefined) await finishMarks(services, lease.paceKey, lease.urlId, url);
  if (priorResult(url.value, lease) !== undefined) return unfetched("stale");

  const viaAllowed = host?.value.viaAllowed ?? false;
  const desk = hostDesk(config, lease.paceKey, viaAllowed);
  const request = { lease, hostKey: lease.hostKey, token: random.token(), url: lease.url };
  const likely = admitNow(services, desk, { ...request, viaAllowed }, { host: host?.value, robots: view });
  const found = url.value.marks === undefined ? url : undefined; // marks that were just finished stand in it no more
  if (likely.kind === "settled") return settle(services, lease, likely.outcome, found);
  if (likely.kind === "refused") return unfetched(likely.reason, likely.until);
  return fetchPage(services, config, { request, before: url.value, found, sight: { host, robots: view } });
}
