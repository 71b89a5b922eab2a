// What becomes of a body that was kept: stored, parsed by its kind, its links published, its document written.
import { contentHash } from "../../core/content/digest.ts";
import { type Completion, owesParse } from "../../core/frontier/complete.ts";
import { bodyClass, parseContentType } from "../../core/http/content-type.ts";
import { headerOf, headersOf } from "../../core/http/outcome.ts";
import { robotsDirectives } from "../../core/http/robots-tag.ts";
import { pageQuality } from "../../core/revisit/page-quality.ts";
import { parseSitemap } from "../../core/sitemap/parse.ts";
import { withinFanOut } from "../../core/traps/fan-out.ts";
import { policyFor } from "../../core/traps/url-policy.ts";
import { hostKeyOf } from "../../core/url/keys.ts";
import type { Answer, Body } from "../../ports/http.ts";
import type { ContentRef } from "../../schemas/content-ref.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import { limits } from "../../schemas/limits.ts";
import type { ParsedPage } from "../../schemas/parsed-page.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import type { CrawlServices } from "../services.ts";
import { writeDocument } from "./document.ts";
import type { EventDetails } from "./fetch-event.ts";
import { parseRequestOf } from "./parse-request.ts";
import { publishDiscoveries } from "./publish.ts";
import { storeBody } from "./store.ts";

export interface TakenBody {
  completion: Pick<Completion, "outcome" | "content" | "reason">;
  event: Partial<EventDetails>;
  /** Where the body stands. */
  ref: ContentRef;
}

export interface BodyJob {
  lease: FetchLease;
  before: UrlState;
  answer: Answer;
  address: string;
  body: Body;
}

export async function takeBody(services: CrawlServices, config: CrawlConfig, job: BodyJob): Promise<TakenBody> {
  const hash = contentHash(job.body.bytes);
  const ref = await storeBody(services, job, job.body.bytes, hash);
  return { ref, ...(await readBody(services, config, job, { hash, ref })) };
}

type ReadBody = Omit<TakenBody, "ref">;

async function readBody(
  services: CrawlServices,
  config: CrawlConfig,
  job: BodyJob,
  { hash, ref }: { hash: Uint8Array; ref: ContentRef },
): Promise<ReadBody> {
  const { before, answer, body } = job;
  const same = before.contentHash !== undefined && Buffer.from(before.contentHash).equals(hash);
  const outcome = same ? "unchanged" : "fetched";
  const event: Partial<EventDetails> = {
    outcome,
    bodyBytes: body.bytes.length,
    contentHash: Buffer.from(hash).toString("hex"),
    segment: ref.segment,
    offset: ref.offset,
  };
  const contentType = headerOf(answer.headers, "content-type") ?? "";
  const kind = bodyClass(parseContentType(contentType).type, job.lease.url, config.acceptTypes);
  if (job.lease.kind === "sitemap" || kind === "feed" || kind === "xml") {
    const links = await takeList(services, job, contentType);
    return { completion: { outcome, content: { hash, indexable: false, reparse: false } }, event: { ...event, links } };
  }
  if (kind === "other-accepted") return { completion: { outcome, content: { hash, indexable: false, reparse: false } }, event };
  if (same && before.linkSetHash !== undefined && before.indexed && !owesParse(before))
    return unchangedPage(config, job, hash, event);
  return parsedPage(services, config, { ...job, hash, ref, outcome, event });
}

/** The same bytes of an indexed page that was parsed need no second parse; an X-Robots-Tag that came meanwhile still counts. */
function unchangedPage(config: CrawlConfig, { answer }: BodyJob, hash: Uint8Array, event: Partial<EventDetails>): ReadBody {
  const { noindex } = robotsDirectives(headersOf(answer.headers, "x-robots-tag"), config.productToken);
  return { completion: { outcome: "unchanged", content: { hash, indexable: !noindex, reparse: false } }, event };
}

type ParseJob = BodyJob & {
  hash: Uint8Array;
  ref: ContentRef;
  outcome: "fetched" | "unchanged";
  event: Partial<EventDetails>;
};

async function parsedPage(services: CrawlServices, config: CrawlConfig, job: ParseJob): Promise<ReadBody> {
  const { lease, before, hash, outcome, event } = job;
  const { limits: allowed } = policyFor(config, lease.hostKey, lease.url);
  const { headers } = job.answer;
  const page = await services.parser.parse(parseRequestOf({ url: lease.url, headers, bytes: job.body.bytes }, config));
  if (!page.ok) {
    const reparse = page.reason === "busy";
    services.metrics.count("gleaner_parse_failures_total", 1, { reason: page.reason });
    const reason = `parse-${page.reason}`;
    return { completion: { outcome, reason, content: { hash, reparse } }, event: { ...event, reason } };
  }
  const { urlId, hostKey } = lease;
  const { links, simHash, title } = page;
  const answer = { urlId, url: lease.url, status: job.answer.status, title, links, simHash };
  const reason = services.answers.judge(hostKey, answer, allowed.softNotFoundUrls);
  if (reason !== undefined) {
    // Links of what is no page lead to more of the same; without a set of links that was published, the next visit looks anew.
    services.metrics.count("gleaner_pages_withheld_total", 1, { reason });
    const content = { hash, indexable: false, reparse: false, simHash };
    return { completion: { outcome, reason, content }, event: { ...event, reason } };
  }
  await takeLinks(services, lease.url, before, page);
  const indexable = !page.noindex;
  if (indexable && config.documents)
    await writeDocument(services, { lease, before, page, ref: job.ref, hash, fetchedAt: job.answer.sentAt });
  const quality = pageQuality(page.quality);
  const content = { hash, indexable, reparse: false, simHash, linkSetHash: page.linkSetHash, quality };
  return { completion: { outcome, content }, event: { ...event, links: page.links.length } };
}

/** Links are published unless the page's link set is the one last published. */
export async function takeLinks(services: CrawlServices, url: string, before: UrlState, page: ParsedPage): Promise<void> {
  const hostKey = hostKeyOf(url);
  const found = page.refresh === undefined ? page.links : [...page.links, page.refresh];
  const { urls, refused } = withinFanOut(found, url, policyFor(services.live.now(), hostKey, url).limits.linksPerPage);
  const counts = { ...page.refused, fanOut: page.refused.fanOut + refused };
  for (const [reason, count] of Object.entries(counts)) {
    if (count > 0) services.metrics.count("gleaner_refusals_total", count, { reason: REFUSED[reason as keyof typeof REFUSED] });
  }
  const same = before.linkSetHash !== undefined && Buffer.from(before.linkSetHash).equals(page.linkSetHash);
  if (same) return;
  if (counts.fanOut > 0) {
    const skip = {
      at: services.clock.now(),
      hostKey,
      reason: REFUSED.fanOut,
      count: counts.fanOut,
      samples: [url],
      source: "link",
    };
    await services.events.publish("skip", [skip]);
  }
  if (urls.length === 0) return;
  await publishDiscoveries(services, { source: "link", from: url, depth: before.depth + 1, hops: 0, kind: "page", urls });
}

const REFUSED = { nofollow: "nofollow", malformed: "malformed", scheme: "scheme", fanOut: "fan-out" } as const;

/** A sitemap, sitemap index or feed: what it lists is discovered. Gives the number of URLs. */
async function takeList(services: CrawlServices, { lease, before, body }: BodyJob, contentType: string): Promise<number> {
  const options = before.vouchedBy === undefined ? {} : { allowHosts: [before.vouchedBy] };
  let list = parseSitemap(body.bytes, lease.url, contentType, options);
  if (list.kind === "gzip") {
    const plain = await services.gunzip(body.bytes, limits.sitemapBytes);
    if (plain === undefined) return 0;
    list = parseSitemap(plain, lease.url, contentType, options);
  }
  const message = { source: "sitemap", from: lease.url, hops: 0 } as const;
  if (list.kind === "urls") {
    const urls = list.entries.map((entry) => entry.url);
    await publishDiscoveries(services, {
      ...message,
      kind: "page",
      depth: before.kind === "sitemap" ? 1 : before.depth + 1,
      urls,
    });
    return urls.length;
  }
  if (list.kind !== "index" || before.kind !== "sitemap" || before.depth >= limits.sitemapDepth) return 0;
  const urls = list.sitemaps.map((sitemap) => sitemap.url);
  await publishDiscoveries(services, { ...message, kind: "sitemap", depth: before.depth + 1, urls });
  return urls.length;
}
