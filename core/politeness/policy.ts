// What may be asked of this host at most? The allowance of one pace key, from the crawl's settings and what was agreed with its owner.
import type { CrawlConfig, HostPolicy } from "../../schemas/crawl-config.ts";
import type { HostState } from "../../schemas/host-state.ts";
import { limits } from "../../schemas/limits.ts";

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
  paused: boolean;
  version: number;
}

/** `viaAllowed`: the host is reached through --allow-address. Only such hosts, and those a policy names, may be asked for more than the default. */
export function pacePolicy(
  config: CrawlConfig,
  paceKey: string,
  { viaAllowed = false }: Pick<HostState, "viaAllowed"> = {},
): PacePolicy {
  const agreed = config.policies.find((policy) => matchesHost(policy, paceKey));
  const trusted = agreed !== undefined || viaAllowed;
  return {
    delayMs: agreed?.delayMs ?? (trusted ? config.delayMs : Math.max(config.delayMs, limits.delayMsMin)),
    concurrency:
      agreed?.concurrency ?? (trusted ? config.hostConcurrency : Math.min(config.hostConcurrency, limits.hostConcurrency)),
    latencyFactor: limits.latencyFactor,
    requestMs: config.requestMs,
    pagesMax: agreed?.pagesMax ?? config.pagesPerHost,
    paused: agreed?.paused ?? false,
    version: config.policyVersion,
  };
}

/** A policy for `example.org` covers all its ports; one for `example.org:8080` only that; `*.example.org` also what lies below. */
function matchesHost(policy: HostPolicy, paceKey: string): boolean {
  const name = paceKey.replace(/:\d+$/, "");
  if (policy.host.startsWith("*.")) return name === policy.host.slice(2) || name.endsWith(policy.host.slice(1));
  return policy.host === paceKey || policy.host === name;
}
