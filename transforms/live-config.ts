// Which configuration holds now? The crawl's own, with the host policies that an operator has ordered since it began.
import type { CrawlConfig, HostPolicies } from "../schemas/crawl-config.ts";

export interface LiveConfig {
  /** One object for as long as nothing is ordered: what is derived of it may be remembered by it. */
  now(): CrawlConfig;
  /** From now on, before the crawl's own policies; what was ordered earlier is gone. Its version counts on from the crawl's. */
  order(policies: HostPolicies): void;
}

export function liveConfig(base: CrawlConfig): LiveConfig {
  let config = base;
  return {
    now: () => config,
    order({ version, hosts }) {
      config = { ...base, policies: [...hosts, ...base.policies], policyVersion: base.policyVersion + version };
    },
  };
}
