// From which figures are the costs computed, and where is each from? What was measured, and what is assumed.

export interface Figure {
  value: number;
  unit: string;
  /** Where it was measured or computed; of assumptions why this and not another. */
  from: string;
}

/** Of documents, stored bytes and messages: 81 saved articles of the shared data, crawled by the command on loopback, 1 December 2026. */
const ARTICLES = "81 real articles, crawled on loopback, 1 December 2026";

export const measured = {
  urlRowBytes: { value: 214, unit: "B", from: "docs/capacity.md: four visits, both validators, with its key" },
  dueRowBytes: { value: 64, unit: "B", from: "docs/capacity.md: a due entry in Bigtable" },
  contentRowBytes: { value: 244, unit: "B", from: "the codec: the reference to a body whose URL has 80 B, its cell and key" },
  hostMessages: { value: 2.1, unit: "a fetch", from: "docs/capacity.md: reports and wakes" },
  hostMessageBytes: { value: 99, unit: "B", from: "docs/capacity.md: reports and wakes" },
  publishes: { value: 0.82, unit: "calls a fetch", from: "docs/capacity.md: calls to Google's services" },
  leaseBytes: { value: 195, unit: "B", from: "docs/capacity.md: records" },
  stateVisits: {
    value: 2,
    unit: "a fetch",
    from: "docs/capacity.md: a host's frontier is visited for the grant and for the report",
  },
  stateBytes: { value: 1326, unit: "B", from: "docs/capacity.md: a frontier with eight URLs ready" },
  stateValuesRead: {
    value: 4.5,
    unit: "values",
    from: "docs/capacity.md: what a read of the bag brings where nothing is kept",
  },
  links: { value: 62, unit: "a page", from: ARTICLES },
  linkBytes: { value: 61, unit: "B", from: `${ARTICLES}: a link in a discover message, with its length` },
  archivedToWire: { value: 1.17, unit: "B a B", from: `${ARTICLES}: WARC 16.3 KB of 14.0 KB on the wire` },
  revisitBytes: { value: 1034, unit: "B", from: "the records of a 304, packed as they are stored" },
  cdxjBytes: { value: 335, unit: "B", from: `${ARTICLES}: a line of the index` },
  documentBytes: { value: 4241, unit: "B", from: `${ARTICLES}: packed` },
  fetchEventBytes: { value: 607, unit: "B", from: `${ARTICLES}: as a message` },
  indexEventBytes: { value: 319, unit: "B", from: `${ARTICLES}: as a message` },
  skipEventBytes: { value: 214, unit: "B", from: `${ARTICLES}: as a message` },
  fetchRowBytes: { value: 402, unit: "B", from: `${ARTICLES}: as BigQuery counts a row` },
  indexRowBytes: { value: 237, unit: "B", from: `${ARTICLES}: as BigQuery counts a row` },
  politenessColumnsBytes: { value: 144, unit: "B", from: `${ARTICLES}: the columns that the query of violations reads` },
  dailyCpuMicroseconds: { value: 264, unit: "us a URL", from: "docs/daily.md: 264 s over a million records" },
} as const satisfies Record<string, Figure>;

export const assumed = {
  pageWireBytes: {
    value: 20_000,
    unit: "B",
    from: "a page as it is sent, compressed; 81 saved articles have 14.0 KB, the median home page of October 2024 has 18 KB (Web Almanac)",
  },
  changedShare: { value: 0.3, unit: "of fetches", from: "bring a body that was not stored yet: new and changed pages" },
  sentWholeShare: { value: 0.5, unit: "of unchanged pages", from: "are sent whole all the same; the others answer 304" },
  receivedAround: {
    value: 5_000,
    unit: "B a fetch",
    from: "received beside the body: certificates, headers, TCP; a connection for each fetch",
  },
  sentBytes: { value: 2_500, unit: "B a fetch", from: "sent: TLS, the request, acknowledgements" },
  urlsPerDailyFetch: { value: 10, unit: "URLs", from: "known for each fetch a day; 10^10 at 10^9 a day, as the design has it" },
  crawlDays: {
    value: 365,
    unit: "days",
    from: "the crawl has run for; Terraform's defaults delete nothing, so that this is what is kept",
  },
  skipEvents: { value: 0.3, unit: "a fetch", from: "refusals are gathered by bundle, host and reason" },
  envelopeBytes: { value: 40, unit: "B a message", from: "20 B of time as Pub/Sub counts, its id, and attributes" },
  discoverHeadBytes: { value: 100, unit: "B a message", from: "a discover message beside its links: the page's URL" },
  workerDiskGib: {
    value: 30,
    unit: "GiB",
    from: "of a worker with Streaming Engine: Dataflow's default, as a public price catalogue of September 2026 tells",
  },
  workerDiskGibAlone: { value: 400, unit: "GiB", from: "of a worker without Streaming Engine, likewise" },
  scansOfADay: { value: 5, unit: "times", from: "analysts' questions read each day's rows whole" },
  dailyOverhead: { value: 2, unit: "times", from: "the daily job's CPU on Dataflow to that of the home engine" },
  dailyShuffleBytes: { value: 900, unit: "B a URL", from: "three groupings of a record of 300 B" },
} as const satisfies Record<string, Figure>;

export const BYTES_OF_A_DISCOVERY = assumed.discoverHeadBytes.value + measured.links.value * measured.linkBytes.value;
