// What is a crawl asked for in tests that look at something else? The defaults, with a scope of their own.
import type { CrawlConfig, Scope } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";

export function testConfig(scope: Scope): CrawlConfig {
  return {
    userAgent: "Gleaner/0 (+a@b.test)",
    productToken: "Gleaner",
    scope,
    sitemaps: false,
    depthMax: limits.depthMax,
    pagesPerHost: limits.pagesPerHost,
    delayMs: limits.delayMs,
    hostConcurrency: limits.hostConcurrency,
    requestMs: limits.requestMs,
    acceptTypes: [],
    documents: true,
    policies: [],
    policyVersion: 0,
    epoch: 1,
    sweepShards: limits.sweepShards,
    clockSkewMs: 0,
  };
}
