// How are a host's clock and its robots.txt put for people?
import { limits } from "../../schemas/limits.ts";
import type { ClockView } from "./read-clock.ts";
import type { RobotsView } from "./read-robots.ts";
import { counted, duration, shown, when } from "./words.ts";

export function clockLines(clock: ClockView, now: number): string[] {
  const { backoff, inFlight, smallestGap } = clock;
  return [
    clock.lastAnsweredAt === undefined ? "last answer: never" : `last answer ${when(clock.lastAnsweredAt, now)}`,
    owedLine(clock),
    allowedLine(clock, now),
    ...(backoff === undefined ? [] : [backoffLine(backoff, now)]),
    ...(clock.pausedUntil !== undefined && clock.pausedUntil > now ? [`paused until ${when(clock.pausedUntil, now)}`] : []),
    ...(clock.movedTo === undefined ? [] : [`moved to the clock of ${clock.movedTo}`]),
    `in flight ${inFlight.length} of ${clock.concurrency}${inFlight.map(({ url, expiresAt }) => `; ${url}, given up ${when(expiresAt, now)}`).join("")}`,
    `pages asked for ${clock.pages} of ${clock.pagesMax}, ${counted(clock.bodyBytes, "byte")} received`,
    ...(smallestGap === undefined
      ? []
      : [`smallest gap so far ${smallestGap.gapMs} ms, allowed then ${smallestGap.allowedMs} ms`]),
  ];
}

/** With more than one request at a time the clock spaces their starts. */
function owedLine({ gapMs, gapFrom, latencyMs, concurrency }: ClockView): string {
  const from = concurrency > 1 ? "from one request's start to the next" : "from an answer to the next request";
  const latency = latencyMs === 0 || concurrency > 1 ? "" : `, and ${duration(latencyMs)} from its end (the host's latency)`;
  return `owed ${duration(gapMs)} ${from} (${gapFrom})${latency}`;
}

function allowedLine({ allowedAt, allowedBy }: ClockView, now: number): string {
  if (allowedBy === "never asked") return "allowed now: it was never asked";
  return allowedAt > now
    ? `allowed from ${when(allowedAt, now)}, by its ${allowedBy}`
    : `allowed since ${when(allowedAt, now)}`;
}

function backoffLine({ until, reason, level }: NonNullable<ClockView["backoff"]>, now: number): string {
  const over = until > now ? `until ${when(until, now)}` : `over since ${when(until, now)}`;
  const next = duration(Math.min(limits.backoffMsMax, limits.backoffMs * 2 ** level));
  return `back-off ${over}; reason ${reason ?? "Retry-After"}, level ${level}: the next trouble costs ${next} or more`;
}

export function robotsLine(view: RobotsView, now: number): string {
  const { status, expired, httpStatus, fetchedAt, expiresAt } = view;
  if (status === "never asked" || fetchedAt === undefined || expiresAt === undefined) return "robots.txt never asked for";
  const answer = httpStatus === undefined ? "" : ` (HTTP ${httpStatus})`;
  const reason = view.reason === undefined ? "" : `, reason ${view.reason}`;
  const failures = view.failures === undefined ? "" : `, ${counted(view.failures, "failure")} in a row`;
  const delay = view.crawlDelayMs === undefined ? "" : `, Crawl-delay ${duration(view.crawlDelayMs)}`;
  const target = view.target === undefined ? "" : `, by redirect from ${shown(view.target)}`;
  const until = expired ? "expired" : status === "rules" || status === "allow-all" ? "good until" : "asked again";
  return `${status}${answer}${reason}${failures}${delay}${target}, fetched ${when(fetchedAt, now)}, ${until} ${when(expiresAt, now)}`;
}
