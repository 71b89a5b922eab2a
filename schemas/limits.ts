// Every limit of the crawler, by name, with the source of its number. What is not here has no limit, which is a fault.

const KIB = 1024;
const MIB = 1024 * KIB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const limits = {
  // URLs
  urlLength: 2048, // sitemaps.org: a loc is shorter than 2,048 characters; browsers and servers agree to about that
  depthMax: 64, // far beyond any hand-made site; a calendar reaches it and ends there
  redirectHops: 10, // the Fetch standard allows 20, curl's usual 10 loses no real site
  linksPerPage: 10_000, // a page with more is a dump; 10^5 links are a known attack
  pagesPerHost: 100_000, // a default bound for one host and crawl; raise it by policy

  // traps: docs/decisions/2026-11-30-traps.md
  pathDepth: 20, // segments of a path: Heritrix's TooManyPathSegmentsDecideRule
  parameters: 20, // of a query: the facet search of our field cases has 12; a form has more fields, a link hardly ever
  segmentRuns: 2, // the same segments in a row, as in /a/b/a/b: Heritrix's PathologicalPathDecideRule
  segmentRepeats: 3, // segments of a path that stand in it before: the Internet Archive's Zeno takes one's fourth place for a loop
  parameterRepeats: 3, // one parameter name in a query and the URLs inside it: Zeno again, of pairs
  urlsPerTemplate: 50_000, // sitemaps.org: as many as an owner lists in one file
  urlsPerQueryTemplate: 10_000, // a tenth of pagesPerHost: no search page may take more of a host
  sampleOneIn: 100, // URLs of a paused template that are still crawled; halves with each doubling of the template
  templatesPerHost: 1000, // distinct templates of a host before they are folded further; at most 270 bytes of sketch each
  softNotFoundUrls: 25, // URLs that answer alike before that is no answer: the demo's mirror has ten honest copies
  pagesPerHostDay: 86_400, // one a second, all day: what the default delay allows
  bytesPerHostDay: 16 * 1024 * MIB, // that many pages of 200 KB, the mean body of the design's section 9

  // robots.txt (RFC 9309)
  robotsBytes: 500 * KIB, // 2.5: a limit of at least 500 KiB
  robotsHops: 5, // 2.3.1.2: at least five consecutive redirects
  robotsCacheMs: 24 * HOUR, // 2.4: not longer than 24 hours unless unreachable
  robotsUnreachableRetryMs: 15 * SECOND, // first retry, when the first back-off of the host is over; doubles up to robotsCacheMs
  crawlDelayMsMax: DAY, // a larger one is kept as a day: the host is slow, not lost

  // the host clock
  delayMs: SECOND, // default gap from answer to next request
  delayMsMin: SECOND, // below it only by policy or for hosts behind --allow-address
  hostConcurrency: 1,
  latencyFactor: 1, // k: a host that answers slowly is asked as slowly
  backoffMs: 15 * SECOND,
  backoffMsMax: DAY,
  retryAfterMsMax: 30 * DAY, // longer ones are kept as this: nothing is forgotten
  sendWithinMs: 250, // from admit to the first byte of the request
  sendWithinMsMin: 50, // the shortest such window: a durable commit must fit in
  expireGraceMs: 5 * SECOND, // an entry in flight outlives the total limit by this
  triesPerVersion: 3, // admits of one URL version without a completion: then it is poisoned
  recentUrls: 8, // admits a host record remembers

  // leases
  leaseStartMs: 10 * SECOND, // from notBefore to startBy
  leaseAheadMs: 250, // a grant may lead its notBefore by this
  readyUrls: 64, // URLs of one host in memory
  settlesOut: 16, // leases out that need no request (robots, address)
  cursorResetMs: HOUR,
  blockedPassMsMax: 5 * MINUTE, // half of the time within which due URLs of the host's other keys are to be leased
  blockedPassMs: MINUTE, // between two passes over a due index that URLs of blocked host keys fill: each pass reads all of them
  turnJitterMs: 2 * SECOND, // overdue turns are spread over this
  hostIdleMs: HOUR, // nothing due within it: state is cleared and the sweep takes over
  clockSkewMs: 200, // each worker's clock within so much of true time: four times what NTP keeps on one network
  casTries: 16, // compare-and-set rounds before `contention`

  // one request
  requestMs: 30 * SECOND, // in all
  headersMs: 15 * SECOND,
  connectMs: 10 * SECOND,
  dnsMs: 5 * SECOND,
  dnsTtlMs: 5 * MINUTE, // answers are kept no longer, failures 30 s
  dnsFailureTtlMs: 30 * SECOND,
  headerBytes: 64 * KIB, // undici's own default is 16 KiB; 64 KiB is what browsers stand
  wireBytes: 10 * MIB, // before decoding; Googlebot reads 15 MB
  decodedBytes: 20 * MIB, // after decoding
  keptConnections: 512, // idle sockets over all hosts
  keepAliveMs: 20 * SECOND, // an idle connection is kept no longer

  // messages and queues
  discoverUrls: 1000, // URLs in one message
  discoverBytes: 256 * KIB,
  queuePull: 64, // messages taken at once
  bundleElements: 128,
  stageElements: 1024, // waiting between two stages of the embedded engine
  bundleTries: 5, // before the job fails
  fetchers: 256, // slots of a worker's pool
  sweepShards: 16,
  sweepMs: 5 * MINUTE, // between two sweeps of one shard
  knownUrls: 200_000, // in Discover's cache, about 25 MB

  // parsing and documents
  parseMs: 10 * SECOND, // a page that takes longer is given up
  parserMemoryMb: 512,
  titleChars: 1000,
  textChars: 1_000_000, // main text of a document
  headings: 500,
  attributeChars: 8192,
  openElements: 512, // as deep as Blink nests; what a deeper one says belongs to the innermost of these
  structuredBlocks: 20, // JSON-LD of a document; a page of many things lists them in one block
  structuredChars: 64 * KIB, // of one such block; a longer one is left out

  // sitemaps (sitemaps.org)
  sitemapBytes: 50 * MIB,
  sitemapUrls: 50_000,
  sitemapIndexUrls: 50_000,
  sitemapDepth: 2, // an index lists sitemaps, not further indexes; one more is forgiven

  // revisits
  revisitMsMin: DAY,
  revisitMsMax: 30 * DAY,
  revisitMsFirst: 7 * DAY,
  goneRevisitMs: 30 * DAY, // 404 and 410
  robotsRevisitMs: 7 * DAY, // a URL that robots.txt or a policy forbids is judged again
  heldRevisitMs: HOUR, // so is one whose pattern is paused: what is resumed soon goes on within the hour
  heldRevisitMsMax: DAY, // an eighth of the pause at most: 10^6 URLs of a pattern would be completed every hour for as long as it is paused
  retries: 5, // of a URL whose request fails, before it waits for goneRevisitMs
  throttledRetries: 20, // of a URL answered with 429, or 503 with Retry-After: the host is to blame, not the URL
  retryMs: MINUTE, // doubles with each
  changeHistory: 16, // past visits kept for the estimator

  // output
  segmentBytes: 1024 * MIB, // WARC guidelines: about 1 GB a file
  segmentMs: HOUR,
} as const;
