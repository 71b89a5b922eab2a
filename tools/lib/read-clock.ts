// What does a host's clock say: when it was asked last, what it is owed and why, from when it may be asked again?
import { allowedAt, gapMs, newHost, withoutExpired } from "../../core/politeness/host-clock.ts";
import { type PacePolicy, pacePolicy } from "../../core/politeness/policy.ts";
import { type CrawlReading, scanPages } from "../../pipelines/wiring.ts";
import type { HostState, LeaseKind } from "../../schemas/host-state.ts";
import { limits } from "../../schemas/limits.ts";
import { rowKey } from "../../schemas/row-key.ts";

export interface ClockView {
  /** From an answer to the next request, at least, and whose wish that is. */
  gapMs: number;
  gapFrom: "Crawl-delay" | "policy" | "--delay-ms" | "our default";
  concurrency: number;
  /** Smoothed; as long again the host is left alone after each request. */
  latencyMs: number;
  lastSendAt?: number;
  lastAnsweredAt?: number;
  lastEndAt?: number;
  allowedAt: number;
  /** Which of the clock's times is the latest. */
  allowedBy: "gap" | "latency" | "back-off" | "never asked";
  backoff?: { until: number; reason?: string; level: number };
  pausedUntil?: number;
  movedTo?: string;
  inFlight: { kind: LeaseKind; url: string; sendByAt: number; expiresAt: number }[];
  pages: number;
  pagesMax: number;
  bodyBytes: number;
  smallestGap?: { gapMs: number; allowedMs: number };
}

export interface HostRecords {
  /** As stored; undefined: the host was never asked. */
  host: HostState | undefined;
  policy: PacePolicy;
  clock: ClockView;
}

export async function readClock({ tables, config }: CrawlReading, paceKey: string, now: number): Promise<HostRecords> {
  const [row] = await tables.hosts.get([rowKey(paceKey)]);
  const policy = pacePolicy(config, paceKey, row?.value);
  const host = withoutExpired(row?.value ?? newHost(config.epoch), now);
  const records = await tables.urls.get(host.inFlight.map(({ urlId }) => rowKey(paceKey, urlId)));
  const unagreed = pacePolicy({ ...config, policies: [] }, paceKey, row?.value);
  const at = allowedAt(host, policy);
  const clock: ClockView = {
    gapMs: gapMs(host, policy),
    gapFrom: gapFrom(host, policy, unagreed),
    concurrency: policy.concurrency,
    latencyMs: host.latencyMs,
    ...known({ lastSendAt: host.lastSendAt, lastAnsweredAt: host.lastAnsweredAt, lastEndAt: host.lastEndAt }),
    allowedAt: at,
    allowedBy: allowedBy(host, policy, at),
    ...backoffOf(host, now),
    ...(host.pausedUntil === undefined ? {} : { pausedUntil: host.pausedUntil }),
    ...(host.movedTo === undefined ? {} : { movedTo: host.movedTo }),
    inFlight: host.inFlight.map(({ kind, hostKey, urlId, sendBy, expiresAt }, index) => ({
      kind,
      url: kind === "robots" ? `${hostKey}/robots.txt` : (records[index]?.value.canonicalUrl ?? urlId),
      sendByAt: sendBy,
      expiresAt,
    })),
    pages: host.pages,
    pagesMax: policy.pagesMax,
    bodyBytes: host.bodyBytes,
    ...(host.smallestGap === undefined ? {} : { smallestGap: host.smallestGap }),
  };
  return { host: row?.value, policy, clock };
}

/** Times that are 0 never were. */
function known<T extends Record<string, number>>(times: T): Partial<T> {
  return Object.fromEntries(Object.entries(times).filter(([, at]) => at > 0)) as Partial<T>;
}

function gapFrom({ crawlDelayMs = 0 }: HostState, policy: PacePolicy, unagreed: PacePolicy): ClockView["gapFrom"] {
  if (crawlDelayMs > policy.delayMs) return "Crawl-delay";
  if (policy.delayMs !== unagreed.delayMs) return "policy";
  return policy.delayMs === limits.delayMs ? "our default" : "--delay-ms";
}

function allowedBy(host: HostState, policy: PacePolicy, at: number): ClockView["allowedBy"] {
  if (at === 0) return "never asked";
  if (host.backoffUntil >= at) return "back-off";
  if (policy.concurrency > 1) return "gap";
  const afterLatency = host.lastEndAt + policy.latencyFactor * host.latencyMs;
  return afterLatency > host.lastAnsweredAt + gapMs(host, policy) ? "latency" : "gap";
}

function backoffOf({ backoffUntil, backoffReason, backoffLevel }: HostState, now: number): Pick<ClockView, "backoff"> {
  if (backoffUntil <= now && backoffLevel === 0) return {};
  return {
    backoff: { until: backoffUntil, ...(backoffReason === undefined ? {} : { reason: backoffReason }), level: backoffLevel },
  };
}

const PAGE = 1_000; // rows of one scan
const HOSTS_MAX = 100_000; // looked at for the count of pages; more are not asked from one machine

/** Pages that the whole crawl may still ask for, counted as the hosts' records count them; Infinity without --max-pages. */
export async function readPagesLeft({ tables, config }: CrawlReading): Promise<number> {
  if (config.pagesMax === undefined) return Number.POSITIVE_INFINITY;
  let left = config.pagesMax;
  let seen = 0;
  for await (const found of scanPages(tables.hosts, { from: "", to: "g", limit: PAGE })) {
    // keys begin with hex digits
    for (const { value } of found) left -= value.pages;
    seen += found.length;
    if (seen >= HOSTS_MAX) break;
  }
  return left;
}
