// What do the DoFns need to know of the options? The JSON that travels in the proto.
import { seedScope } from "../core/url/scope.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import { limits } from "../schemas/limits.ts";
import type { CrawlOptions } from "./options.ts";

export interface CrawlFacts {
  /** Of this run and the earlier ones; they bound the scope. */
  seeds: readonly string[];
  /** The number of the job. */
  epoch: number;
  clockSkewMs: number;
}

export function configOf(options: CrawlOptions, { seeds, epoch, clockSkewMs }: CrawlFacts): CrawlConfig {
  return {
    userAgent: options.userAgent,
    productToken: options.productToken,
    scope: seedScope(options.scope, seeds, options.rules),
    sitemaps: options.sitemaps,
    depthMax: options.depthMax,
    ...(options.pagesMax === undefined ? {} : { pagesMax: options.pagesMax }),
    pagesPerHost: options.pagesPerHost,
    delayMs: options.delayMs,
    hostConcurrency: options.hostConcurrency,
    requestMs: options.requestMs,
    acceptTypes: options.acceptTypes,
    documents: options.documents,
    policies: options.policies,
    policyVersion: options.policyVersion,
    epoch,
    sweepShards: limits.sweepShards,
    clockSkewMs,
  };
}
