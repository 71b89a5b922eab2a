// What does a host allow? Read from the crawl's configuration anew; a pace key is the host's name, as no virtual host has a port.
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import { kept } from "./kept.ts";

export interface Allowance {
  /** Between an answer and the next request; between two requests where more than one may be open. */
  delayMs: number;
  concurrency: number;
  pagesMax: number;
  paused: boolean;
}

/** Who agreed to nothing is asked once a second at most, and one thing at a time, whatever the crawl's settings say. */
const UNAGREED_DELAY_MS = 1_000;

/** The first policy that names the host, or `*.` of a domain it lies in, counts. Answers are kept: ask as often as need be. */
export function allowances(config: CrawlConfig): (host: string) => Allowance {
  const known = new Map<string, Allowance>();
  return (host) => kept(known, host, () => allowanceOf(config, host));
}

function allowanceOf(config: CrawlConfig, host: string): Allowance {
  const policy = config.policies.find((one) => names(one.host, host));
  const pagesMax = policy?.pagesMax ?? config.pagesPerHost;
  if (policy === undefined) {
    return { delayMs: Math.max(config.delayMs, UNAGREED_DELAY_MS), concurrency: 1, pagesMax, paused: false };
  }
  return {
    delayMs: policy.delayMs ?? config.delayMs,
    concurrency: policy.concurrency ?? config.hostConcurrency,
    pagesMax,
    paused: policy.paused === true,
  };
}

function names(pattern: string, host: string): boolean {
  if (!pattern.startsWith("*.")) return pattern === host;
  const domain = pattern.slice(2);
  return host === domain || host.endsWith(`.${domain}`);
}
