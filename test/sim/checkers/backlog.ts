// What is left to do at a host, and may it be asked? By its URL records, its own and its robots rules, as they stand.
import { hostKeyOf } from "../../../core/url/keys.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import { type Allowance, allowancesAt } from "./allowance.ts";
import type { FinalState, SimFacts } from "./checker.ts";

/** Of one host key. */
export interface HostBacklog {
  paceKey: string;
  /** Its due URL that has waited longest. */
  oldest: { url: string; dueAt: number } | undefined;
  /** Its oldest URL that was never fetched, and the youngest that was fetched PASSED_MS before the end. */
  neverFetched: { url: string; at: number } | undefined;
  fetched: { url: string; at: number } | undefined;
}

/** A URL is passed over by younger ones no longer than this: the frontier's cursors return once an hour, doubled. */
export const PASSED_MS = 2 * 3_600_000;

const BACKOFF_MS = 15_000;
const JITTER = 1.25;
const DAY_MS = 86_400_000;

/** Of the classes 0 and 1. */
export function isHasty(record: UrlState): boolean {
  return record.priority <= 1;
}

/** Adds the record to its host key's. */
export function noteBacklog(hosts: Map<string, HostBacklog>, paceKey: string, record: UrlState, at: number): void {
  const { canonicalUrl: url, nextFetchAt: dueAt, discoveredAt, lastFetchAt, version, depth, kind } = record;
  const hostKey = hostKeyOf(url);
  let host = hosts.get(hostKey);
  if (host === undefined) {
    host = { paceKey, oldest: undefined, neverFetched: undefined, fetched: undefined };
    hosts.set(hostKey, host);
  }
  if (isHasty(record) && dueAt <= at && (host.oldest === undefined || dueAt < host.oldest.dueAt)) host.oldest = { url, dueAt };
  if (depth === 0 || kind === "sitemap") return; // seeds and sitemaps go first, whatever their age
  if (version === 0) {
    if (host.neverFetched === undefined || discoveredAt < host.neverFetched.at) host.neverFetched = { url, at: discoveredAt };
  } else if (lastFetchAt !== undefined && lastFetchAt <= at - PASSED_MS) {
    if (host.fetched === undefined || discoveredAt > host.fetched.at) host.fetched = { url, at: discoveredAt };
  }
}

/** What is allowed at a time, and since when the host is not paused any more; 0: it never was. */
export function allowancesNow({ config, orders = [] }: Pick<SimFacts, "config" | "orders">) {
  const allowanceAt = allowancesAt(config, orders);
  return (host: string, now: number): Allowance & { resumedAt: number } => {
    const resumed = orders.findLastIndex(
      ({ at }, index) =>
        at <= now && index > 0 && allowanceAt(host, orders[index - 1]!.at, 0).paused && !allowanceAt(host, at, 0).paused,
    );
    return { ...allowanceAt(host, now, 0), resumedAt: orders[resumed]?.at ?? 0 };
  };
}

/** Unix ms since when nothing that the tables know of keeps the host from being asked. */
export async function freeFrom(
  tables: FinalState["tables"],
  hostKey: string,
  paceKey: string,
  allowance: ReturnType<ReturnType<typeof allowancesNow>>,
): Promise<number> {
  if (allowance.paused) return Number.POSITIVE_INFINITY;
  const [[row], [rules]] = await Promise.all([
    tables.hosts.get([rowKey(paceKey)]),
    tables.robots.get([rowKey(paceKey, hostKey)]),
  ]);
  const known = rules?.value.status === "rules" || rules?.value.status === "allow-all";
  const robotsAt = rules === undefined || known ? 0 : rules.value.expiresAt;
  if (row === undefined) return Math.max(robotsAt, allowance.resumedAt);
  const {
    lastAnsweredAt,
    lastSendAt,
    backoffUntil,
    backoffLevel,
    crawlDelayMs = 0,
    inFlight,
    pages,
    pausedUntil = 0,
    day,
  } = row.value;
  if (pages >= allowance.pagesMax || row.value.movedTo !== undefined) return Number.POSITIVE_INFINITY;
  const delayMs = Math.max(allowance.delayMs, crawlDelayMs);
  const unheardMs = Math.min(DAY_MS, BACKOFF_MS * 2 ** (backoffLevel + inFlight.length)) * JITTER;
  const unheard = inFlight.map((flight) => flight.expiresAt + unheardMs);
  const isSpent = day !== undefined && (day.pages >= allowance.pagesPerDay || day.bytes >= allowance.bytesPerDay);
  const tomorrow = isSpent ? (day.day + 1) * DAY_MS : 0;
  return Math.max(
    allowance.resumedAt,
    tomorrow,
    robotsAt,
    Math.max(lastAnsweredAt, lastSendAt) + delayMs,
    backoffUntil,
    pausedUntil,
    ...unheard,
  );
}
