// What is known of one URL? Its record, its due entry, what happened to it, and what its host and robots.txt say to it now.
import { candidatesOf } from "../../core/frontier/candidates.ts";
import { explainUrl, type UrlExplanation } from "../../core/frontier/explain-url.ts";
import { hostKeyOf, paceKeyOfHost, urlIdentity } from "../../core/url/keys.ts";
import { type CrawlReading, findPage } from "../../pipelines/wiring.ts";
import type { FetchEvent, SkipEvent } from "../../schemas/events.ts";
import { dueKey } from "../../schemas/row-key.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import { type ClockView, readClock, readPagesLeft } from "./read-clock.ts";
import { type RobotsDecision, readRobotsDecision } from "./read-robots.ts";

export interface UrlView {
  url: string;
  urlId: string;
  hostKey: string;
  paceKey: string;
  /** When all this was read. */
  at: number;
  running?: boolean;
  record?: RecordView;
  due?: { priority: number; dueAt: number; stands: boolean };
  /** Newest first. */
  events: FetchEvent[];
  /** Refusals that name this URL among their samples, newest first. */
  refusals: Pick<SkipEvent, "at" | "reason" | "source">[];
  /** False where older events were not looked at. */
  eventsComplete: boolean;
  robots: RobotsDecision;
  clock: ClockView;
  explanation: UrlExplanation | UnknownUrl;
}

export type RecordView = Omit<UrlState, "contentHash" | "simHash" | "linkSetHash" | "canonicalUrl" | "cluster"> & {
  /** Hex. */
  contentHash?: string;
  simHash?: string;
  /** Its near-duplicates, by the SimHash of the page that stands for them, as the last daily run found them. */
  cluster?: { id: string; role: NonNullable<UrlState["cluster"]>["role"] };
  /** Where the body lies: a file below pages/, and the place of its record there. */
  stored?: { segment: string; offset: number; length: number };
};

/** What the crawl would do with a URL that it does not know. */
export type UnknownUrl =
  /** robots.txt has no record of its own: its host's state is all there is. */
  | { because: "robots-file" }
  /** Outside of what the crawl was asked for, or refused before by a limit. */
  | { because: "refused"; reason: string }
  | { because: "unseen" };

const EVENTS_MAX = 10; // outcomes shown

/** `url` is canonical. */
export async function readUrl(reading: CrawlReading, url: string): Promise<UrlView> {
  const now = reading.now();
  const hostKey = hostKeyOf(url);
  const paceKey = paceKeyOfHost(hostKey);
  const page = await findPage(reading, url);
  const record = page?.row.value;
  const urlId = page?.urlId ?? urlIdentity(url).urlId;
  const [robots, { host, policy, clock }, happened, pagesLeft] = await Promise.all([
    readRobotsDecision(reading, { paceKey, hostKey, url, now }),
    readClock(reading, paceKey, now),
    readHappened(reading, url, record === undefined),
    readPagesLeft(reading),
  ]);
  const running = reading.running();
  const common = { url, urlId, hostKey, paceKey, at: now, ...(running === undefined ? {} : { running }) };
  const seen = { ...common, ...happened, robots, clock };
  if (record === undefined) return { ...seen, explanation: unknownUrl(reading, seen) };
  const { priority, nextFetchAt: dueAt } = record;
  const [entry] = await reading.tables.due.get([dueKey({ paceKey, priority, dueAt, urlId })]);
  const stands = entry !== undefined;
  const { judgement } = robots;
  return {
    ...seen,
    record: await recordView(reading, record),
    due: { priority, dueAt, stands },
    explanation: explainUrl({ urlId, record, entryStands: stands, robots: judgement, host, policy, pagesLeft, now }),
  };
}

async function recordView({ tables }: CrawlReading, record: UrlState): Promise<RecordView> {
  const { canonicalUrl: _url, linkSetHash: _links, contentHash, simHash, cluster, ...facts } = record;
  const hash = contentHash && Buffer.from(contentHash).toString("hex");
  const [ref] = hash === undefined ? [] : await tables.content.get([hash]);
  return {
    ...facts,
    ...(hash === undefined ? {} : { contentHash: hash }),
    ...(simHash === undefined ? {} : { simHash: Buffer.from(simHash).toString("hex") }),
    ...(cluster === undefined ? {} : { cluster: { id: Buffer.from(cluster.id).toString("hex"), role: cluster.role } }),
    ...(ref === undefined
      ? {}
      : { stored: { segment: ref.value.segment, offset: ref.value.offset, length: ref.value.length } }),
  };
}

async function readHappened(
  reading: CrawlReading,
  url: string,
  alsoRefused: boolean,
): Promise<Pick<UrlView, "events" | "refusals" | "eventsComplete">> {
  const holding = JSON.stringify(url);
  const [fetches, skips] = await Promise.all([
    reading.events({ kind: "fetch", holding, wanted: (event) => event.url === url, max: EVENTS_MAX }),
    alsoRefused
      ? reading.events({ kind: "skip", holding, wanted: ({ samples }) => samples.includes(url), max: EVENTS_MAX })
      : { events: [], complete: true },
  ]);
  return {
    events: fetches.events,
    refusals: skips.events.map(({ at, reason, source }) => ({ at, reason, ...(source === undefined ? {} : { source }) })),
    eventsComplete: fetches.complete && skips.complete,
  };
}

/** By what it was refused for already, else by the scope: how far from a seed it would be found nobody knows. */
function unknownUrl(
  { config }: CrawlReading,
  { url, refusals, robots, hostKey }: Pick<UrlView, "url" | "refusals" | "robots" | "hostKey">,
): UnknownUrl {
  if (url === `${hostKey}/robots.txt` && robots.view.status !== "never asked") return { because: "robots-file" };
  const { refusals: now } = candidatesOf({ source: "link", depth: 0, hops: 0, kind: "page", urls: [url] }, config);
  const reason = now[0]?.reason ?? refusals[0]?.reason;
  return reason === undefined ? { because: "unseen" } : { because: "refused", reason };
}
