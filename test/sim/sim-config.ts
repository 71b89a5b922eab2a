// How is the crawl of a virtual world configured? As by default, with the policies of its hosts.
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";
import type { FaultPlan } from "./plan.ts";
import { policiesOf } from "./policies.ts";
import type { World } from "./world.ts";

const SKEW_MS = 200; // between any worker's clock and true time: the design's bound

export function simConfig(world: World, plan: FaultPlan): CrawlConfig {
  return {
    userAgent: "Gleaner/sim",
    productToken: "Gleaner",
    scope: { mode: "any", hosts: [], domains: [], rules: [] },
    sitemaps: false,
    depthMax: 40,
    pagesPerHost: limits.pagesPerHost,
    delayMs: limits.delayMs,
    hostConcurrency: 1,
    requestMs: limits.requestMs,
    acceptTypes: [],
    documents: false,
    policies: policiesOf(world),
    policyVersion: 1,
    epoch: 1,
    sweepShards: 1,
    clockSkewMs: plan["clock-skew"] > 0 ? SKEW_MS : 0,
  };
}
