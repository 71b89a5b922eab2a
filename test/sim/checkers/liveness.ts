// Did the run do anything, and is nothing left lying at its end? Urgent and first fetches and retries, by what the tables say.
import type { Allowance } from "./allowance.ts";
import { allowancesNow, freeFrom, type HostBacklog, isHasty, noteBacklog, PASSED_MS } from "./backlog.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";
import { urlRows } from "./tables.ts";

const REQUESTS_MIN = 100;
/** Of the requests that are the least, as some are for robots.txt and some fail. */
const COMPLETED_SHARE = 0.1;

/** A host that is free and has something due is asked within this: a sweep every 5 min, a lost lease's 45 s, and jitter, doubled. */
const IDLE_MS = 15 * 60_000;

/** Waiting counts from when the faults ended, and from when the host is free. */
export function liveness(facts: SimFacts): Checker {
  const { config, requestsMin = REQUESTS_MIN } = facts;
  const violations = new Violations();
  const allowanceOf = allowancesNow(facts);
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
      const hosts = new Map<string, HostBacklog>();
      for await (const rows of urlRows(final)) {
        for (const { paceKey, record } of rows) {
          if (record.version > 0) figures.urlsCompleted++;
          if (isHasty(record) && record.nextFetchAt <= at) figures.urlsOverdue++;
          noteBacklog(hosts, paceKey, record, at);
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
          const freeAt = await freeFrom(final.tables, hostKey, host.paceKey, allowanceOf(host.paceKey, at));
          const ms = at - Math.max(oldest.dueAt, freeAt, faultsEndedAt);
          figures.overdueLongestMs = Math.max(figures.overdueLongestMs, ms);
          if (ms > IDLE_MS) violations.add(`${oldest.url}: due and its host free for ${ms} ms`);
        }
        if (neverFetched === undefined || fetched === undefined || at - faultsEndedAt < PASSED_MS) continue;
        if (isBudgeted(allowanceOf(host.paceKey, at))) continue;
        if (neverFetched.at < fetched.at)
          violations.add(`${neverFetched.url}: passed over for ${PASSED_MS} ms and more by ${fetched.url}`);
      }
    },
  };
}

/** A day's budget may be spent within seconds: whoever had no luck in them waits a day, and was passed over by nobody. */
function isBudgeted({ pagesPerDay, bytesPerDay }: Pick<Allowance, "pagesPerDay" | "bytesPerDay">): boolean {
  return Number.isFinite(pagesPerDay) || Number.isFinite(bytesPerDay);
}
