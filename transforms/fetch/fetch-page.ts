// A page or sitemap: the request, its outcome by status, and what follows from the body.

import type { Completion } from "../../core/frontier/complete.ts";
import { bodyClass, parseContentType } from "../../core/http/content-type.ts";
import { headerOf, outcomeOf } from "../../core/http/outcome.ts";
import { normalizeUrl } from "../../core/url/normalize.ts";
import type { Answer, Body } from "../../ports/http.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import { limits } from "../../schemas/limits.ts";
import type { Outcome } from "../../schemas/reasons.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import type { CrawlServices } from "../services.ts";
import { completeDurably } from "./complete.ts";
import { type EventDetails, outcomeEvent } from "./fetch-event.ts";
import { releaseDurably } from "./host-record.ts";
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
}

export async function fetchPage(services: CrawlServices, config: CrawlConfig, job: PageJob): Promise<LeaseEnd> {
  // A page is spent when it is asked for the first time; retries, revisits and sitemaps cost nothing.
  const first = job.before.kind === "page" && job.before.lastFetchAt === undefined;
  if (first && !services.budget.take()) return unfetched("page-limit");
  const headers = { accept: accepted(config), ...validators(job.before) };
  const result = await exchange(services, config, { paceKey: job.request.lease.paceKey, request: job.request, headers });
  const sent = result.kind === "answer" || (result.kind === "failure" && result.failure.sentAt !== undefined);
  if (first && !sent) services.budget.giveBack();
  const { lease } = job.request;
  switch (result.kind) {
    case "refused":
      return unfetched(result.reason, result.until);
    case "settled":
      return settle(services, lease, result.outcome);
    case "failure":
      return failed(services, lease, result);
    case "answer":
      return answered(services, config, job, result);
  }
}

/** A failed connection or request; a refused address is not the host's fault and not tried again soon. */
async function failed(
  services: CrawlServices,
  lease: FetchLease,
  { failure, hostFreeAt }: Extract<Exchange, { kind: "failure" }>,
): Promise<LeaseEnd> {
  if (failure.reason === "address") return settle(services, lease, "address");
  const { reason, sentAt, endedAt } = failure;
  const completion: Completion = { outcome: "failed", reason, hostFreeAt, ...(sentAt === undefined ? {} : { sentAt }) };
  services.log("debug", "a request failed", { url: lease.url, reason, detail: failure.detail });
  return ended(services, lease, completion, { at: sentAt ?? endedAt, outcome: "failed", reason });
}

async function answered(
  services: CrawlServices,
  config: CrawlConfig,
  job: PageJob,
  got: Extract<Exchange, { kind: "answer" }>,
): Promise<LeaseEnd> {
  const { answer, address, token, desk } = got;
  const { before } = job;
  const { lease } = job.request;
  const { status, sentAt, answeredAt } = answer;
  const contentType = headerOf(answer.headers, "content-type") ?? "";
  const conditional = before.etag !== undefined || before.lastModified !== undefined;
  const outcome = outcomeOf(status, conditional, headerOf(answer.headers, "retry-after") !== undefined);
  const told: EventDetails = {
    at: sentAt,
    outcome,
    status,
    address,
    latencyMs: answeredAt - sentAt,
    ...(contentType === "" ? {} : { contentType }),
  };

  const wanted =
    outcome === "fetched" && bodyClass(parseContentType(contentType).type, lease.url, config.acceptTypes) !== undefined;
  const body = wanted ? await answer.body({ wireBytes: limits.wireBytes, decodedBytes: decodedMax(lease) }) : undefined;
  if (body === undefined) answer.discard();
  const endedAt = body?.endedAt ?? services.clock.now();
  const host = await releaseDurably(services, desk, token, answeredEnd(answer, endedAt, body?.wireBytes ?? 0));

  const facts = { status, sentAt, hostFreeAt: host.backoffUntil, ...newValidators(answer) };
  const event = { ...told, durationMs: endedAt - sentAt, ...(body === undefined ? {} : { wireBytes: body.wireBytes }) };
  if (outcome === "fetched" && !wanted) return refusedBody(services, lease, facts, { ...event, reason: "content-type" });
  if (body !== undefined && !body.ok) return refusedBody(services, lease, facts, { ...event, reason: body.reason });
  if (body !== undefined) return kept(services, config, job, { answer, address, body, facts, event });
  if (outcome === "redirect") return redirected(services, job, answer, facts, event);
  if (outcome === "unchanged") await storeUnchanged(services, { lease, answer, address, before });
  return ended(services, lease, { ...facts, outcome }, event);
}

export type AnswerFacts = Pick<Completion, "status" | "sentAt" | "hostFreeAt" | "etag" | "lastModified">;

async function refusedBody(
  services: CrawlServices,
  lease: FetchLease,
  facts: AnswerFacts,
  event: EventDetails,
): Promise<LeaseEnd> {
  const outcome: Outcome = "refused-body";
  const reason = event.reason ?? "";
  return ended(services, lease, { ...facts, outcome, reason }, { ...event, outcome });
}

async function redirected(
  services: CrawlServices,
  job: PageJob,
  answer: Answer,
  facts: AnswerFacts,
  event: EventDetails,
): Promise<LeaseEnd> {
  const { lease } = job.request;
  const target = normalizeUrl(headerOf(answer.headers, "location") ?? "", lease.url);
  if (!target.ok || headerOf(answer.headers, "location") === undefined) {
    return ended(
      services,
      lease,
      { ...facts, outcome: "client-error", reason: "location" },
      { ...event, outcome: "client-error", reason: "location" },
    );
  }
  const { depth, hops, kind } = job.before;
  await publishDiscoveries(services, { source: "redirect", from: lease.url, depth, hops: hops + 1, kind, urls: [target.url] });
  return ended(services, lease, { ...facts, outcome: "redirect" }, { ...event, redirectTo: target.url });
}

interface KeptBody {
  answer: Answer;
  address: string;
  body: Body;
  facts: AnswerFacts;
  event: EventDetails;
}

async function kept(services: CrawlServices, config: CrawlConfig, job: PageJob, got: KeptBody): Promise<LeaseEnd> {
  const { lease } = job.request;
  const taken = await takeBody(services, config, { lease, before: job.before, ...got });
  return ended(services, lease, { ...got.facts, ...taken.completion }, { ...got.event, ...taken.event });
}

async function ended(
  services: CrawlServices,
  lease: FetchLease,
  completion: Completion,
  event: EventDetails,
): Promise<LeaseEnd> {
  await outcomeEvent(services, lease, event); // first: after the record nobody would know that it is still to be told
  const done = await completeDurably(services, lease, completion);
  return { fetched: true, result: completion.outcome, ...(done === undefined ? {} : { nextDueAt: done.nextFetchAt }) };
}

/** A sitemap may be larger than a page. */
function decodedMax(lease: FetchLease): number {
  return lease.kind === "sitemap" ? limits.sitemapBytes : limits.decodedBytes;
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
