// What does the daily pipeline tell of a day? Of each host, each status, each refusal, each trap, and of the crawl as a whole.
import { list, optional, struct, type TypeOf, text, uint } from "../codec.ts";
import type { DayTable } from "./day-table.ts";

const counts = {
  requests: uint,
  robots: uint,
  fetched: uint,
  unchanged: uint,
  redirects: uint,
  gone: uint,
  clientErrors: uint,
  serverErrors: uint,
  throttled: uint,
  failed: uint,
  refused: uint,
  wireBytes: uint,
  bodyBytes: uint,
  dueUrgent: uint,
  dueUrgentInTime: uint,
};

const countWords = {
  requests: "Requests that were made or tried, robots.txt among them.",
  robots: "Of those, for robots.txt.",
  fetched: "Answers whose body was kept.",
  unchanged: "304, or the same bytes again.",
  redirects: "Redirects.",
  gone: "404 and 410.",
  clientErrors: "Other 4xx.",
  serverErrors: "5xx.",
  throttled: "429, and 503 with Retry-After.",
  failed: "No answer, or a body that was not kept.",
  refused: "URLs for which no request was made: robots.txt, a policy or the address guard forbids it.",
  wireBytes: "Body bytes over the wire.",
  bodyBytes: "Body bytes after decoding.",
  dueUrgent: "Pages of the classes 0 and 1 that were asked for.",
  dueUrgentInTime: "Of those, within ten minutes of their due time.",
};

const hostStatisticsRow = struct({
  paceKey: text,
  ...counts,
  latencyMeanMs: optional(uint),
  latencyP95Ms: optional(uint),
  dayGapMs: optional(uint),
  gapMs: optional(uint),
  gapOwedMs: optional(uint),
  violations: uint,
});
export type HostStatisticsRow = TypeOf<typeof hostStatisticsRow>;

export const hostStatistics: DayTable<HostStatisticsRow> = {
  name: "host-statistics",
  version: 1,
  row: hostStatisticsRow,
  words: {
    paceKey: "Whose clock; a host name, with its port where that is not the scheme's.",
    ...countWords,
    latencyMeanMs: "From sending to the first byte, in the mean.",
    latencyP95Ms: "The time that 95 of 100 answers did not exceed, to 19 %.",
    dayGapMs: "The smallest time of the day between an answer and the next request, by the events; 0 where they overlap.",
    gapMs: "The smallest time between an answer and the next request so far, as the admits noted it.",
    gapOwedMs: "What was owed then.",
    violations: "1 where that gap was shorter than owed; never.",
  },
};

const statusRow = struct({ outcome: text, status: optional(uint), count: uint, wireBytes: uint });
export type StatusRow = TypeOf<typeof statusRow>;

export const statusStatistics: DayTable<StatusRow> = {
  name: "status-statistics",
  version: 1,
  row: statusRow,
  words: {
    outcome: "What came of the attempt.",
    status: "The HTTP status, where there was an answer.",
    count: "Attempts.",
    wireBytes: "Body bytes over the wire.",
  },
};

const refusalRow = struct({ reason: text, source: optional(text), count: uint, samples: list(text) });
export type RefusalRow = TypeOf<typeof refusalRow>;

export const refusalStatistics: DayTable<RefusalRow> = {
  name: "refusal-statistics",
  version: 1,
  row: refusalRow,
  words: {
    reason: "Why URLs were not taken.",
    source: "What led to them: links, a sitemap, redirects.",
    count: "URLs.",
    samples: "Up to three of them.",
  },
};

const trapRow = struct({ hostKey: text, template: text, urls: uint, pausedAt: uint, samples: list(text) });
export type TrapRow = TypeOf<typeof trapRow>;

export const trapStatistics: DayTable<TrapRow> = {
  name: "trap-statistics",
  version: 1,
  row: trapRow,
  words: {
    hostKey: "Scheme and authority.",
    template: "The pattern that has more URLs than its limit.",
    urls: "Distinct URLs of the pattern so far, within some per cent.",
    pausedAt: "When it first had too many, Unix ms.",
    samples: "The first URLs that were seen of it.",
  },
};

const crawlRow = struct({
  hosts: uint,
  ...counts,
  documentsChanged: uint,
  documentsGone: uint,
  duplicates: uint,
  violations: uint,
  eventsTwice: uint,
  linesBad: uint,
});
export type CrawlRow = TypeOf<typeof crawlRow>;

export const crawlStatistics: DayTable<CrawlRow> = {
  name: "crawl-statistics",
  version: 1,
  row: crawlRow,
  words: {
    hosts: "Hosts that were asked, or of which a URL was refused.",
    ...countWords,
    documentsChanged: "New versions of documents.",
    documentsGone: "Documents that an index is to drop.",
    duplicates: "Bodies of the day that another URL of the day has as well.",
    violations: "Hosts whose smallest gap was shorter than owed; none.",
    eventsTwice: "Events that came more than once; counted once.",
    linesBad: "Lines of event files that are none.",
  },
};
