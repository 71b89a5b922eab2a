// Was the crawl polite, and did it come to what it should? Judged from the demo web's own log alone.
import { beforeRetryAfter, beforeRobots, concurrencyMax, disallowedRequests, smallestGapMs } from "../test/lib/judge.ts";
import type { RequestLogEntry } from "../test/lib/web-server.ts";
import { demoFaults } from "./web/judge.ts";
import type { DemoSite } from "./web/site.ts";
import { CRAWL_DELAY_SECONDS, slow } from "./web/sites/pace.ts";
import { RULES_ROBOTS, rules } from "./web/sites/rules.ts";

export interface HostVerdict {
  host: string;
  requests: number;
  /** From an answer to the next request; Infinity where there were fewer than two. */
  smallestGapMs: number;
  allowedMs: number;
}

export interface DemoVerdict {
  hosts: HostVerdict[];
  /** What no site should have had to bear, a line each. */
  violations: string[];
  /** What differs from what the sites expect, a line each. */
  faults: string[];
}

const SLOW = slow().host;
const RULES = rules().host;

export function demoVerdict(sites: readonly DemoSite[], log: readonly RequestLogEntry[], delayMs: number): DemoVerdict {
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
    faults: demoFaults(sites, log, { sitemaps: true }),
  };
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
