// Why was a URL or a request refused, put off or ended? The closed lists that counters, events and reports speak in.

/** A URL that never became a record, decided before any request. */
export const refusalReasons = [
  "malformed", // not a URL, or one without a host
  "scheme", // neither http nor https
  "scope", // outside --scope
  "excluded", // an --exclude pattern
  "url-length",
  "depth",
  "redirect-hops",
  "nofollow", // the page or the link asks not to be followed
  "fan-out", // more links on one page than the limit
  "path-depth", // more segments than the limit
  "parameters", // more parameters than the limit
  "repeated-segments", // /a/b/a/b/a/b
  "echo", // a query that repeats itself, or a page that links to its own URL with the same once more
  "relative-growth", // host names in the path: links without a scheme, on a site that answers everything
  "template-limit", // its pattern has had its URLs, and it is not of the sample
] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** A lease that ended without a request; the URL stays due. */
export const unfetchedReasons = [
  "stale", // the record moved on since the grant
  "late", // past startBy
  "unsent", // past sendBy, or the connection went away before the request
  "clock", // the host's next allowed time lies ahead
  "concurrency",
  "backoff",
  "paused",
  "moved", // the pace key was mapped elsewhere
  "epoch", // a newer job owns the host
  "robots-missing", // no unexpired rules
  "robots-pending", // robots.txt is being fetched
  "duplicate", // the same lease or URL is already admitted under another token
  "page-limit", // --max-pages
  "host-page-limit",
  "host-day-pages", // its pages of this UTC day
  "host-day-bytes",
  "shutdown",
  "contention", // the host record was written by others too often
  "store", // the store refused
] as const;
export type UnfetchedReason = (typeof unfetchedReasons)[number];

/** How a request, or the attempt to make one, failed. */
export const failureReasons = [
  "dns", // no such name, or the look-up failed
  "address", // every address of the name is refused by the guard
  "connect",
  "tls",
  "timeout", // header, body or total time
  "reset", // the connection ended early
  "protocol", // not HTTP as we read it
  "header-bytes",
] as const;
export type FailureReason = (typeof failureReasons)[number];

/** How a body ended before its end; what came so far is not kept. */
export const bodyEnds = ["wire-bytes", "decoded-bytes", "encoding", "body-timeout", "body-reset", "content-type"] as const;
export type BodyEnd = (typeof bodyEnds)[number];

/** How a lease completed: the class of the outcome as reports and fetch events name it. */
export const outcomes = [
  "fetched", // 2xx with a body that was kept
  "unchanged", // 304, or the same bytes again
  "redirect",
  "gone", // 404, 410
  "client-error", // other 4xx
  "server-error", // 5xx
  "throttled", // 429, and 503 with Retry-After
  "failed", // no answer: the failure reason says why
  "refused-body", // the body ended for one of bodyEnds
  "robots", // forbidden by robots.txt, no request made
  "address", // forbidden by the address guard, no request made
  "excluded", // by a policy, no request made
  "held", // its pattern is paused by a policy: no request made, judged again within the hour, and less often the longer that lasts
  "poisoned", // admitted three times without a completion
] as const;
export type Outcome = (typeof outcomes)[number];

/** Outcomes that the records alone decide, before any admit. */
export const settledOutcomes = ["robots", "address", "excluded", "held"] as const satisfies readonly Outcome[];
export type SettledOutcome = (typeof settledOutcomes)[number];

/** Why a page that was fetched and kept is nothing for an index. */
export const withheldReasons = [
  "soft-404", // the same answer as to many other URLs of its host
] as const;
export type WithheldReason = (typeof withheldReasons)[number];
