// A page or sitemap: the request, its outcome by status, and what follows from the body.

import type { Completion } from "../../core/frontier/complete.ts";
import { bodyClass, parseContentType } from "../../core/http/content-type.ts";
import { headerOf, outcomeOf } from "../../core/http/outcome.ts";
import { allowedAt } from "../../core/politeness/host-clock.ts";
import { policyFor } from "../../core/traps/url-policy.ts";
import { normalizeUrl } from "../../core/url/normalize.ts";
import type { Answer, Body, BodyFailure, BodyLimits } from "../../ports/http.ts";
import type { Versioned } from "../../ports/versioned-table.ts";
import type { ContentRef } from "../../schemas/content-ref.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import { limits } from "../../schemas/limits.ts";
import type { Outcome } from "../../schemas/reasons.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import type { CrawlServices } from "../services.ts";
import { completeDurably } from "./complete.ts";
import { type EventDetails, failureDetails, outcomeEvent } from "./fetch-event.ts";
import { type HostSight, releaseDurably } from "./host-record.ts";
import { publishDiscoveries } from "./publish.ts";
import { answeredEnd, type Exchange, exchange, type PreparedRequest } from "./request.ts";
import { type LeaseEnd, unfetched } from "./run-lease.ts";
import { settle } from "./settle.ts";
import { storeUnchanged } from "./store.ts";
import { takeBody } from "./take-body.ts";

export interface PageJob {
  request: PreparedRequest;
  /** The URL's record as read. */
  before: UrlState;
  /** The same with its rev, where no unfinished marks stood in it. */
  found?: Versioned<UrlState> | undefined;
  sight?: HostSight | undefined;
}

export async function fetchPage(services: CrawlServices, config: CrawlConfig, job: PageJob): Promise<LeaseEnd> {
  // A page is spent when it is asked for the first time; retries, revisits and sitemaps cost nothing.
  const first = job.before.kind === "page" && job.before.lastFetchAt === undefined;
  if (first && !services.budget.take()) return unfetched("page-limit");
  const headers = { accept: accepted(config), ...validators(job.before) };
  const { request, sight } = job;
  const result = await exchange(services, config, { paceKey: request.lease.paceKey, request, headers, sight });
  const sent = result.kind === "answer" || (result.kind === "failure" && result.failure.sentAt !== undefined);
  if (first && !sent) services.budget.giveBack();
  const { lease } = request;
  switch (result.kind) {
    case "refused":
      return unfetched(result.reason, result.until);
    case "settled":
      return settle(services, lease, result.outcome, job.found);
    case "failure":
      return failed(services, job, result);
    case "answer":
      return answered(services, config, job, result);
  }
}

/** What is to be written and told of a request that has ended. */
interface Ending {
  completion: Completion;
  event: EventDetails;
  /** Where its body stands. */
  ref?: ContentRef;
  /** When the host's clock next allows a start, Unix ms. */
  nextStartAt?: number;
}

async function ended(services: CrawlServices, job: PageJob, ending: Ending): Promise<LeaseEnd> {
  const { completion, event, ref, nextStartAt } = ending;
  const { lease } = job.request;
  const { nextFetchAt: dueAt, priority } = job.before;
  await outcomeEvent(services, lease, { ...event, dueAt, priority }); // first: after the record nobody would know that it is still to be told
  const done = await completeDurably(services, lease, completion, { found: job.found, ref });
  return {
    fetched: true,
    result: completion.outcome,
    ...(done === undefined ? {} : { nextDueAt: done.record.nextFetchAt, afterwards: done.afterwards }),
    ...(nextStartAt === undefined ? {} : { nextStartAt }),
  };
}

/** A failed connection or request; a refused address is not the host's fault and not tried again soon. */
async function failed(
  services: CrawlServices,
  job: PageJob,
  { failure, hostFreeAt }: Extract<Exchange, { kind: "failure" }>,
): Promise<LeaseEnd> {
  const { lease } = job.request;
  if (failure.reason === "address") return settle(services, lease, "address", job.found);
  const { reason, sentAt, endedAt } = failure;
  const completion: Completion = { outcome: "failed", reason, hostFreeAt, ...(sentAt === undefined ? {} : { sentAt }) };
  services.log("debug", "a request failed", { url: lease.url, reason, detail: failure.detail });
  return ended(services, job, { completion, event: { at: sentAt ?? endedAt, outcome: "failed", ...failureDetails(failure) } });
}

async function answered(
  services: CrawlServices,
  config: CrawlConfig,
  job: PageJob,
  got: Extract<Exchange, { kind: "answer" }>,
): Promise<LeaseEnd> {
  const { answer, address, booked, desk } = got;
  const { before } = job;
  const { lease } = job.request;
  const { status, sentAt, answeredAt } = answer;
  const contentType = headerOf(answer.headers, "content-type") ?? "";
  const conditional = before.etag !== undefined || before.lastModified !== undefined;
  const outcome = outcomeOf(status, conditional, headerOf(answer.headers, "retry-after") !== undefined);

  const wanted =
    outcome === "fetched" && bodyClass(parseContentType(contentType).type, lease.url, config.acceptTypes) !== undefined;
  const body = wanted ? await answer.body(bodyLimits(config, lease)) : undefined;
  if (body === undefined) answer.discard();
  const endedAt = body?.endedAt ?? services.clock.now();
  const host = await releaseDurably(services, desk, booked, answeredEnd(answer, endedAt, body?.wireBytes ?? 0));

  const facts = { status, sentAt, hostFreeAt: host.backoffUntil, ...newValidators(answer) };
  const event: EventDetails = {
    at: sentAt,
    outcome,
    status,
    address,
    latencyMs: answeredAt - sentAt,
    ...(contentType === "" ? {} : { contentType }),
    durationMs: endedAt - sentAt,
    ...(body === undefined ? {} : { wireBytes: body.wireBytes }),
  };
  const ending = await endingOf(services, config, job, { answer, address, outcome, body, facts, event });
  return ended(services, job, { ...ending, nextStartAt: allowedAt(host, desk.policy) + desk.skewMs });
}

export type AnswerFacts = Pick<Completion, "status" | "sentAt" | "hostFreeAt" | "etag" | "lastModified">;

interface Answered {
  answer: Answer;
  address: string;
  outcome: Outcome;
  /** Undefined where none was wanted. */
  body: Body | BodyFailure | undefined;
  facts: AnswerFacts;
  event: EventDetails;
}

async function endingOf(services: CrawlServices, config: CrawlConfig, job: PageJob, got: Answered): Promise<Ending> {
  const { answer, address, outcome, body, facts, event } = got;
  const { before } = job;
  const { lease } = job.request;
  if (body?.ok) {
    const taken = await takeBody(services, config, { lease, before, answer, address, body });
    return { completion: { ...facts, ...taken.completion }, event: { ...event, ...taken.event }, ref: taken.ref };
  }
  if (body !== undefined) return without(got, "refused-body", body.reason);
  if (outcome === "fetched") return without(got, "refused-body", "content-type");
  if (outcome === "redirect") return redirected(services, job, got);
  if (outcome === "unchanged") await storeUnchanged(services, { lease, answer, address, before });
  return { completion: { ...facts, outcome }, event };
}

/** An answer of which nothing is taken, and why. */
function without({ facts, event }: Answered, outcome: Outcome, reason: string): Ending {
  return { completion: { ...facts, outcome, reason }, event: { ...event, outcome, reason } };
}

async function redirected(services: CrawlServices, job: PageJob, got: Answered): Promise<Ending> {
  const { facts, event } = got;
  const { lease } = job.request;
  const location = headerOf(got.answer.headers, "location");
  const target = normalizeUrl(location ?? "", lease.url);
  if (!target.ok || location === undefined) return without(got, "client-error", "location");
  const { depth, hops, kind } = job.before;
  await publishDiscoveries(services, { source: "redirect", from: lease.url, depth, hops: hops + 1, kind, urls: [target.url] });
  return { completion: { ...facts, outcome: "redirect" }, event: { ...event, redirectTo: target.url } };
}

/** A sitemap may be larger than a page. */
function bodyLimits(config: CrawlConfig, { kind, hostKey, url }: FetchLease): BodyLimits {
  const { wireBytes, decodedBytes } = policyFor(config, hostKey, url).limits;
  return { wireBytes, decodedBytes: kind === "sitemap" ? limits.sitemapBytes : decodedBytes };
}

function accepted({ acceptTypes }: CrawlConfig): string {
  const usual = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8";
  return acceptTypes.length === 0 ? `${usual},*/*;q=0.1` : [usual, ...acceptTypes, "*/*;q=0.1"].join(",");
}

function validators({ etag, lastModified }: UrlState): Record<string, string> {
  return {
    ...(etag === undefined ? {} : { "if-none-match": etag }),
    ...(lastModified === undefined ? {} : { "if-modified-since": lastModified }),
  };
}

const VALIDATOR_CHARS = 512; // longer ones are not worth a place in every record

function newValidators(answer: Answer): Pick<Completion, "etag" | "lastModified"> {
  const etag = headerOf(answer.headers, "etag");
  const lastModified = headerOf(answer.headers, "last-modified");
  return {
    ...(etag === undefined || etag.length > VALIDATOR_CHARS ? {} : { etag }),
    ...(lastModified === undefined || lastModified.length > VALIDATOR_CHARS ? {} : { lastModified }),
  };
}
