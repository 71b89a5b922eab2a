// What is one crawl asked to do? The JSON configuration of its DoFns: no code, no clock, no stores.

/** Normalisers that change what a URL says, so each is off until a policy names it: core/url/parameter-rules.ts. */
export const parameterRules = ["session-ids", "tracking-parameters", "parameter-order", "trailing-slash", "www"] as const;
export type ParameterRule = (typeof parameterRules)[number];

/** What one URL, its page or its pattern may cost at most. The defaults and their sources stand in limits.ts. */
export interface UrlLimits {
  urlLength: number;
  pathDepth: number;
  parameters: number;
  segmentRuns: number;
  segmentRepeats: number;
  parameterRepeats: number;
  /** Links from the nearest seed. */
  depthMax: number;
  redirectHops: number;
  linksPerPage: number;
  urlsPerTemplate: number;
  urlsPerQueryTemplate: number;
  sampleOneIn: number;
  wireBytes: number;
  decodedBytes: number;
  parseMs: number;
}

/** What a whole host may cost at most. */
export interface HostLimits {
  templatesPerHost: number;
  softNotFoundUrls: number;
  pagesPerDay: number;
  bytesPerDay: number;
}

export type TrapLimits = UrlLimits & HostLimits;

/** Of the policies that match, the first that sets a field decides it: the narrower stands before the wider. */
export interface HostPolicy {
  /** A host name, `*.example.org` for it and all below it, host:port, or `*` for every host. */
  host: string;
  /** An anchored glob over the canonical URL: the policy is about these URLs of the host alone. */
  pattern?: string;
  /**
   * False: a measure of ours, which allows no more than the default. Otherwise a policy for a whole, named host tells of its owner's
   * consent, so that what the crawl asks for at large may be asked of it.
   */
  agreed?: boolean;
  delayMs?: number;
  concurrency?: number;
  pagesMax?: number;
  /** URLs wait until it is lifted. */
  paused?: boolean;
  /** URLs do not become records, and those that are records get no request. */
  excluded?: boolean;
  limits?: Partial<TrapLimits>;
  parameterRules?: ParameterRule[];
}

/** A set of policies that is read and replaced as a whole. */
export interface HostPolicies {
  /** Rises with each change, so that records show which one they were judged by. */
  version: number;
  hosts: readonly HostPolicy[];
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
  policies: readonly HostPolicy[];
  policyVersion: number;
  /** The number of this job: a host record's epoch only rises. */
  epoch: number;
  sweepShards: number;
  /** How far any worker's clock may be from true time, ms; 0 where all share one process's clock. */
  clockSkewMs: number;
}
