// Did the run do anything, and is nothing left lying at its end? Urgent and first fetches and retries, by what the tables say.
import { hostKeyOf } from "../../../core/url/keys.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import { type Allowance, allowances } from "./allowance.ts";
import { type Checker, type FinalState, type SimFacts, Violations } from "./checker.ts";
import { urlRows } from "./tables.ts";

const REQUESTS_MIN = 100;
/** Of the requests that are the least, as some are for robots.txt and some fail. */
const COMPLETED_SHARE = 0.1;

/** A host that is free and has something due is asked within this: a sweep every 5 min, a lost lease's 45 s, and jitter, doubled. */
const IDLE_MS = 15 * 60_000;
/** A URL is passed over by younger ones no longer than this: the frontier's cursors return once an hour, doubled. */
const PASSED_MS = 2 * 3_600_000;

const BACKOFF_MS = 15_000;
const JITTER = 1.25;
const DAY_MS = 86_400_000;

interface HostKey {
  paceKey: string;
  /** Its due URL that has waited longest. */
  oldest: { url: string; dueAt: number } | undefined;
  /** Its oldest URL that was never fetched, and the youngest that was fetched PASSED_MS before the end. */
  neverFetched: { url: string; at: number } | undefined;
  fetched: { url: string; at: number } | undefined;
}

/** Waiting counts from when the faults ended, and from when the host is free. */
export function liveness({ config, requestsMin = REQUESTS_MIN }: SimFacts): Checker {
  const violations = new Violations();
  const allowanceOf = allowances(config);
  const figures = { requests: 0, urlsCompleted: 0, urlsOverdue: 0, overdueLongestMs: 0 };
  return {
    name: "liveness",
    violations,
    figures: () => figures,
    arrived() {
      figures.requests++;
    },
    async finish(final) {
      const { stoppedAt: at = final.now, faultsEndedAt = 0 } = final;
      const hosts = new Map<string, HostKey>();
      for await (const rows of urlRows(final)) {
        for (const { paceKey, record } of rows) {
          if (record.version > 0) figures.urlsCompleted++;
          if (isHasty(record) && record.nextFetchAt <= at) figures.urlsOverdue++;
          note(hosts, paceKey, record, at);
        }
      }
      if (figures.requests < requestsMin) violations.add(`${figures.requests} requests, ${requestsMin} are the least`);
      const completedMin = Math.ceil(requestsMin * COMPLETED_SHARE);
      if (figures.urlsCompleted < completedMin)
        violations.add(`${figures.urlsCompleted} URLs completed, ${completedMin} are the least`);
      if (config.pagesMax !== undefined) return; // a crawl whose pages are spent leaves the rest
      for (const [hostKey, host] of hosts) {
        const { oldest, neverFetched, fetched } = host;
        if (oldest !== undefined) {
          const freeAt = await freeFrom(final, host, hostKey, allowanceOf(host.paceKey));
          const ms = at - Math.max(oldest.dueAt, freeAt, faultsEndedAt);
          figures.overdueLongestMs = Math.max(figures.overdueLongestMs, ms);
          if (ms > IDLE_MS) violations.add(`${oldest.url}: due and its host free for ${ms} ms`);
        }
        if (neverFetched === undefined || fetched === undefined || at - faultsEndedAt < PASSED_MS) continue;
        if (neverFetched.at < fetched.at)
          violations.add(`${neverFetched.url}: passed over for ${PASSED_MS} ms and more by ${fetched.url}`);
      }
    },
  };
}

/** Of the classes 0 and 1. */
function isHasty(record: UrlState): boolean {
  return record.priority <= 1;
}

function note(hosts: Map<string, HostKey>, paceKey: string, record: UrlState, at: number): void {
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

/** Unix ms since when nothing that the tables know of keeps the host from being asked. */
async function freeFrom({ tables }: FinalState, { paceKey }: HostKey, hostKey: string, allowance: Allowance): Promise<number> {
  if (allowance.paused) return Number.POSITIVE_INFINITY;
  const [[row], [rules]] = await Promise.all([
    tables.hosts.get([rowKey(paceKey)]),
    tables.robots.get([rowKey(paceKey, hostKey)]),
  ]);
  const known = rules?.value.status === "rules" || rules?.value.status === "allow-all";
  const robotsAt = rules === undefined || known ? 0 : rules.value.expiresAt;
  if (row === undefined) return robotsAt;
  const {
    lastAnsweredAt,
    lastSendAt,
    backoffUntil,
    backoffLevel,
    crawlDelayMs = 0,
    inFlight,
    pages,
    pausedUntil = 0,
  } = row.value;
  if (pages >= allowance.pagesMax || row.value.movedTo !== undefined) return Number.POSITIVE_INFINITY;
  const delayMs = Math.max(allowance.delayMs, crawlDelayMs);
  const unheardMs = Math.min(DAY_MS, BACKOFF_MS * 2 ** (backoffLevel + inFlight.length)) * JITTER;
  const unheard = inFlight.map((flight) => flight.expiresAt + unheardMs);
  return Math.max(robotsAt, Math.max(lastAnsweredAt, lastSendAt) + delayMs, backoffUntil, pausedUntil, ...unheard);
}
