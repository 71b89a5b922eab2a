// What holds for this URL? The limits, rules, pause and exclusion of the policies that are about its host and match it.
import type { CrawlConfig, HostPolicy, ParameterRule, TrapLimits } from "../../schemas/crawl-config.ts";
import { policiesOf } from "../politeness/policies.ts";
import { compileGlob } from "../url/glob.ts";
import { paceKeyOfHost } from "../url/keys.ts";
import { defaultTrapLimits } from "./trap-limits.ts";

export interface UrlPolicy {
  limits: TrapLimits;
  parameterRules: readonly ParameterRule[];
  /** It waits, whether it has a record or not. */
  paused: boolean;
  /** Reason `excluded`. */
  excluded: boolean;
}

/** What of a crawl's configuration decides a URL's policy; one object gives one memory. */
export type PolicySource = Pick<CrawlConfig, "policies" | "depthMax">;

/**
 * In the order of the file, each field and each limit is decided by the first policy that sets it and matches: by its host, and where
 * it has a pattern by the whole canonical URL too. What none sets is the crawl's own, then the default. A pause or an exclusion of the
 * whole host is judged by pacePolicy as well, so that a pattern cannot lift it.
 */
export function policyFor(config: PolicySource, hostKey: string, canonicalUrl: string): UrlPolicy {
  const memory = memoryOf(config);
  const policies = policiesOf(config.policies, paceKeyOfHost(hostKey));
  if (policies.length === 0) return memory.usual;
  const hasPattern = policies.some(({ pattern }) => pattern !== undefined);
  if (hasPattern)
    return resolved(
      policies.filter((policy) => matches(memory, policy, canonicalUrl)),
      memory.usual,
    );
  let known = memory.byPolicies.get(policies);
  if (known === undefined) {
    known = resolved(policies, memory.usual);
    memory.byPolicies.set(policies, known);
  }
  return known;
}

/** Whether a policy forbids the URL: for good, or for as long as its pattern is paused. */
export function withheldBy(config: PolicySource, hostKey: string, canonicalUrl: string): "excluded" | "held" | undefined {
  const { excluded, paused } = policyFor(config, hostKey, canonicalUrl);
  if (excluded) return "excluded";
  return paused ? "held" : undefined;
}

interface Memory {
  usual: UrlPolicy;
  /** By the list that policiesOf remembers. */
  byPolicies: WeakMap<readonly HostPolicy[], UrlPolicy>;
  matchers: WeakMap<HostPolicy, (url: string) => boolean>;
}

const memories = new WeakMap<PolicySource, Memory>();

function memoryOf(config: PolicySource): Memory {
  let memory = memories.get(config);
  if (memory === undefined) {
    const usual: UrlPolicy = {
      limits: { ...defaultTrapLimits, depthMax: config.depthMax },
      parameterRules: [],
      paused: false,
      excluded: false,
    };
    memory = { usual, byPolicies: new WeakMap(), matchers: new WeakMap() };
    memories.set(config, memory);
  }
  return memory;
}

function matches(memory: Memory, policy: HostPolicy, url: string): boolean {
  if (policy.pattern === undefined) return true;
  let matcher = memory.matchers.get(policy);
  if (matcher === undefined) {
    matcher = compileGlob(policy.pattern);
    memory.matchers.set(policy, matcher);
  }
  return matcher(url);
}

function resolved(policies: readonly HostPolicy[], usual: UrlPolicy): UrlPolicy {
  if (policies.length === 0) return usual;
  const set = <F extends keyof HostPolicy>(field: F) => policies.find((policy) => policy[field] !== undefined)?.[field];
  const limits = { ...usual.limits };
  for (const policy of [...policies].reverse()) Object.assign(limits, policy.limits); // the first is written last
  return {
    limits,
    parameterRules: set("parameterRules") ?? usual.parameterRules,
    paused: set("paused") ?? usual.paused,
    excluded: set("excluded") ?? usual.excluded,
  };
}
