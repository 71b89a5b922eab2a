// What may be asked of this host at most? The allowance of one pace key, from the crawl's settings and what was agreed with its owner.
import type { CrawlConfig, HostPolicy } from "../../schemas/crawl-config.ts";
import type { HostState } from "../../schemas/host-state.ts";
import { limits } from "../../schemas/limits.ts";
import type { DayBudget } from "./day-budget.ts";
import { isAgreed, policiesOf } from "./policies.ts";

export interface PacePolicy {
  /** From the first byte of an answer to the next request, at least. */
  delayMs: number;
  /** Requests under way at once, at most. */
  concurrency: number;
  /** k of the clock: this many times the host's latency pass after a request's end. */
  latencyFactor: number;
  /** From connecting to the end of the body, at most. */
  requestMs: number;
  pagesMax: number;
  /** Of one UTC day. */
  dayBudget: DayBudget;
  /** Paused or excluded: no request at all. */
  paused: boolean;
  version: number;
}

/**
 * Of the policies that name the whole host the first that sets a field decides it. `viaAllowed`: the host is reached through
 * --allow-address. Only such hosts, and those an agreed policy names, may be asked for more than the default.
 */
export function pacePolicy(
  config: CrawlConfig,
  paceKey: string,
  { viaAllowed = false }: Pick<HostState, "viaAllowed"> = {},
): PacePolicy {
  const ours = policiesOf(config.policies, paceKey).filter((policy) => policy.pattern === undefined);
  const set = <F extends keyof HostPolicy>(field: F) => ours.find((policy) => policy[field] !== undefined)?.[field];
  const trusted = viaAllowed || ours.some(isAgreed);
  const delayMs = set("delayMs") ?? config.delayMs;
  const concurrency = set("concurrency") ?? config.hostConcurrency;
  return {
    delayMs: trusted ? delayMs : Math.max(delayMs, limits.delayMsMin),
    concurrency: trusted ? concurrency : Math.min(concurrency, limits.hostConcurrency),
    latencyFactor: limits.latencyFactor,
    requestMs: config.requestMs,
    pagesMax: set("pagesMax") ?? config.pagesPerHost,
    dayBudget: {
      pagesPerDay: limitOf(ours, "pagesPerDay") ?? limits.pagesPerHostDay,
      bytesPerDay: limitOf(ours, "bytesPerDay") ?? limits.bytesPerHostDay,
    },
    paused: (set("paused") ?? false) || (set("excluded") ?? false),
    version: config.policyVersion,
  };
}

function limitOf(policies: readonly HostPolicy[], name: keyof DayBudget): number | undefined {
  return policies.find((policy) => policy.limits?.[name] !== undefined)?.limits?.[name];
}
