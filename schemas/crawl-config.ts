// What is one crawl asked to do? The JSON configuration of its DoFns: no code, no clock, no stores.

export interface HostPolicy {
  /** A host name, `*.example.org` for it and all below it, or host:port. */
  host: string;
  delayMs?: number;
  concurrency?: number;
  pagesMax?: number;
  paused?: boolean;
}

export type ScopeMode = "host" | "domain" | "any";

export interface Scope {
  mode: ScopeMode;
  /** Host names of the seeds, any scheme or port. */
  hosts: string[];
  /** Registrable domains of the seeds. */
  domains: string[];
  /** Anchored globs over the canonical URL; the last match wins. */
  rules: { action: "include" | "exclude"; pattern: string }[];
}

export interface CrawlConfig {
  /** The whole header value. */
  userAgent: string;
  /** RFC 9309 2.2.1: what robots.txt groups are matched against. */
  productToken: string;
  scope: Scope;
  sitemaps: boolean;
  depthMax: number;
  /** Pages of the whole crawl; absent: no bound. */
  pagesMax?: number;
  pagesPerHost: number;
  delayMs: number;
  hostConcurrency: number;
  requestMs: number;
  /** Media types beyond HTML, XHTML, text, sitemaps and feeds. */
  acceptTypes: string[];
  documents: boolean;
  policies: HostPolicy[];
  policyVersion: number;
  /** The number of this job: a host record's epoch only rises. */
  epoch: number;
  sweepShards: number;
  /** How far any worker's clock may be from true time, ms; 0 where all share one process's clock. */
  clockSkewMs: number;
}
