// The facts, requests, records and tables that the tests of the checkers begin with.

import { hostKeyOf, paceKeyOfHost, urlIdentity } from "../../../core/url/keys.ts";
import { seededRandom } from "../../../io/random.ts";
import { memoryTable } from "../../../io/stores/memory-table.ts";
import { crawlTables, type RawTables, tableNames } from "../../../pipelines/worker.ts";
import type { CrawlConfig, HostPolicy } from "../../../schemas/crawl-config.ts";
import type { FetchEvent, IndexEvent } from "../../../schemas/events.ts";
import type { DiscoverMessage } from "../../../schemas/messages.ts";
import { dueKey, rowKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import type { WireEntry } from "../wire.ts";
import { makeWorld } from "../world.ts";
import type { Checker, FinalState, SimFacts } from "./checker.ts";

export const T = Date.UTC(2026, 0, 1);
const SECOND = 1_000;
export const HOUR = 3_600_000;

const CONFIG: CrawlConfig = {
  userAgent: "Gleaner/sim",
  productToken: "Gleaner",
  scope: { mode: "any", hosts: [], domains: [], rules: [] },
  sitemaps: false,
  depthMax: 40,
  pagesPerHost: 100_000,
  delayMs: SECOND,
  hostConcurrency: 1,
  requestMs: 30 * SECOND,
  acceptTypes: [],
  documents: false,
  policies: [],
  policyVersion: 1,
  epoch: 1,
  sweepShards: 1,
  clockSkewMs: 0,
};

/** A world of ten plain hosts, h0.sim to h9.sim, that are always up. `clock.at` is what now() gives. */
export function facts(change: Partial<CrawlConfig> = {}, more: Partial<SimFacts> = {}): SimFacts & { clock: { at: number } } {
  const clock = { at: T };
  const world = makeWorld({ seed: 1, hosts: 10, startAt: T, spanMs: 24 * HOUR });
  for (const host of world.hosts) {
    host.downUntil = 0;
    delete host.privateFrom;
  }
  return { world, config: { ...CONFIG, ...change }, now: () => clock.at, faultless: true, clock, ...more };
}

export function agreed(change: Partial<HostPolicy> = {}): Partial<CrawlConfig> {
  return { policies: [{ host: "h1.sim", delayMs: 200, concurrency: 2, ...change }] };
}

/** A request to h1.sim at `at` ms after T, answered with 200 after 50 ms and over after 10 more; undefined times: still open. */
export function request(at: number, change: Partial<WireEntry> = {}): WireEntry {
  const entry: WireEntry = {
    serial: 0,
    host: "h1.sim",
    scheme: "http:",
    path: "/p1",
    address: "93.1.2.3",
    at: T + at,
    answeredAt: T + at + 50,
    endedAt: T + at + 60,
    status: 200,
    worker: "w1",
    ...change,
  };
  for (const field of ["answeredAt", "endedAt"] as const) if (entry[field] === undefined) delete entry[field];
  return entry;
}

/** As `request`, for robots.txt with this text. */
export function robotsRequest(at: number, robotsBody: string, change: Partial<WireEntry> = {}): WireEntry {
  return request(at, { path: "/robots.txt", robotsBody, ...change });
}

/** No answer came, and the exchange is over. */
export function failed(at: number, change: Partial<WireEntry> = {}): WireEntry {
  const { answeredAt: _, ...entry } = request(at, { status: 0, ...change });
  return entry;
}

/** What the checker says of these requests, in their order. */
export function saysOf(checker: Checker, entries: readonly WireEntry[]): string[] {
  for (const entry of entries) checker.arrived?.(entry);
  return checker.violations.words;
}

export function url(canonicalUrl: string, change: Partial<UrlState> = {}): UrlState {
  return {
    canonicalUrl,
    kind: "page",
    version: 0,
    docVersion: 0,
    depth: 1,
    hops: 0,
    priority: 1,
    discoveredAt: T,
    nextFetchAt: T,
    failureCount: 0,
    ...change,
  };
}

export function fetched(canonicalUrl: string, change: Partial<UrlState> = {}): UrlState {
  return url(canonicalUrl, {
    version: 1,
    docVersion: 1,
    indexed: true,
    priority: 2,
    nextFetchAt: T + 100 * HOUR,
    lastFetchAt: T + SECOND,
    lastOutcome: "fetched",
    lastLeaseId: "lease-1",
    ...change,
  });
}

export function placeOf(canonicalUrl: string): { paceKey: string; urlId: string } {
  return { paceKey: paceKeyOfHost(hostKeyOf(canonicalUrl)), urlId: urlIdentity(canonicalUrl).urlId };
}

/** Tables with these records and their due entries. */
export async function standing(records: readonly UrlState[], change: Partial<FinalState> = {}): Promise<FinalState> {
  const raw = Object.fromEntries(tableNames.map((name) => [name, memoryTable()])) as RawTables;
  const tables = crawlTables(raw, seededRandom("tables"));
  for (const record of records) {
    const { paceKey, urlId } = placeOf(record.canonicalUrl);
    await tables.urls.insertIfAbsent([{ key: rowKey(paceKey, urlId), value: record }]);
    await putDue({ tables, now: 0 }, record.canonicalUrl, record.priority, record.nextFetchAt);
  }
  return { tables, now: T + HOUR, ...change };
}

export async function putDue({ tables }: FinalState, canonicalUrl: string, priority: number, dueAt: number): Promise<void> {
  const key = dueKey({ ...placeOf(canonicalUrl), priority, dueAt });
  await tables.due.insertIfAbsent([{ key, rev: `${canonicalUrl} ${dueAt}`, value: new Uint8Array() }]);
}

/** What the checker says at the end. */
export async function saysAtEnd(checker: Checker, final: FinalState): Promise<string[]> {
  await checker.finish?.(final);
  return checker.violations.words;
}

export function links(urls: string[], change: Partial<DiscoverMessage> = {}): DiscoverMessage {
  return { source: "link", depth: 1, hops: 0, kind: "page", urls, ...change };
}

export function fetchEvent(canonicalUrl: string, change: Partial<FetchEvent> = {}): FetchEvent {
  return {
    at: T,
    url: canonicalUrl,
    ...placeOf(canonicalUrl),
    hostKey: hostKeyOf(canonicalUrl),
    kind: "page",
    leaseId: "lease-1",
    version: 0,
    outcome: "fetched",
    ...change,
  };
}

export function indexEvent(canonicalUrl: string, change: Partial<IndexEvent> = {}): IndexEvent {
  const { urlId } = placeOf(canonicalUrl);
  return { at: T, urlId, docVersion: 1, op: "upsert", url: canonicalUrl, ...change };
}
