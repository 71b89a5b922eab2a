// Was the crawl polite, and did it come to what it should? Judged from the demo web's own log; what ended a trap, from the crawl's events.
import { beforeRetryAfter, beforeRobots, concurrencyMax, disallowedRequests, smallestGapMs } from "../test/lib/judge.ts";
import type { RequestLogEntry } from "../test/lib/web-server.ts";
import { demoFaults } from "./web/judge.ts";
import type { DemoSite, TrapReason } from "./web/site.ts";
import { CRAWL_DELAY_SECONDS, slow } from "./web/sites/pace.ts";
import { RULES_ROBOTS, rules } from "./web/sites/rules.ts";

export interface HostVerdict {
  host: string;
  requests: number;
  /** From an answer to the next request; Infinity where there were fewer than two. */
  smallestGapMs: number;
  allowedMs: number;
}

/** What became of a host that makes up addresses. */
export interface TrapVerdict {
  host: string;
  /** Of the trap, asked for. */
  pages: number;
  stops: { reason: TrapReason; times: number }[];
}

export interface DemoEvidence {
  sites: readonly DemoSite[];
  /** The web's own. */
  log: readonly RequestLogEntry[];
  delayMs: number;
  /** The crawl's: by host, how often it turned away for a reason. */
  stops: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

export interface DemoVerdict {
  hosts: HostVerdict[];
  traps: TrapVerdict[];
  /** What no site should have had to bear, a line each. */
  violations: string[];
  /** What differs from what the sites expect, a line each. */
  faults: string[];
}

const SLOW = slow().host;
const RULES = rules().host;

export function demoVerdict({ sites, log, delayMs, stops }: DemoEvidence): DemoVerdict {
  const hosts = sites
    .filter(({ handler }) => handler !== undefined)
    .map(({ host }) => ({
      host,
      requests: log.filter((entry) => entry.host === host).length,
      smallestGapMs: smallestGapMs(log, host).answerToStart,
      allowedMs: host === SLOW ? Math.max(delayMs, 1000 * CRAWL_DELAY_SECONDS) : delayMs,
    }));
  return {
    hosts,
    violations: hosts.flatMap((host) => violationsOf(host, log)),
    traps: trapVerdicts(sites, log, stops),
    faults: [...demoFaults(sites, log, { sitemaps: true }), ...unstopped(sites, stops)],
  };
}

function trapVerdicts(
  sites: readonly DemoSite[],
  log: readonly RequestLogEntry[],
  stops: DemoEvidence["stops"],
): TrapVerdict[] {
  return sites.flatMap(({ host, expected: { endless } }) => {
    if (endless === undefined) return [];
    const paths = new Set(
      log.filter((entry) => entry.host === host && endless.pattern.test(entry.path)).map(({ path }) => path),
    );
    const stopped = endless.reasons.map((reason) => ({ reason, times: stops.get(host)?.get(reason) ?? 0 }));
    return [{ host, pages: paths.size, stops: stopped }];
  });
}

function unstopped(sites: readonly DemoSite[], stops: DemoEvidence["stops"]): string[] {
  return sites.flatMap(({ host, expected: { endless } }) =>
    (endless?.reasons ?? [])
      .filter((reason) => stops.get(host)?.has(reason) !== true)
      .map((reason) => `${host}: nothing of it was refused for ${reason}`),
  );
}

function violationsOf({ host, smallestGapMs: gap, allowedMs }: HostVerdict, log: readonly RequestLogEntry[]): string[] {
  const concurrent = concurrencyMax(log, host);
  const early = beforeRobots(log, host);
  const forbidden = host === RULES ? disallowedRequests(log, host, RULES_ROBOTS) : [];
  return [
    ...(gap < allowedMs ? [`${host} was asked ${gap.toFixed(1)} ms after an answer, not ${allowedMs}`] : []),
    ...(concurrent > 1 ? [`${host} had ${concurrent} requests at once`] : []),
    ...early.map(({ path }) => `${host}${path} was asked for before robots.txt was answered`),
    ...forbidden.map(({ path }) => `${host}${path} was asked for, which robots.txt forbids`),
    ...beforeRetryAfter(log, host).map(({ path }) => `${host}${path} was asked for within the time of a Retry-After`),
  ];
}
