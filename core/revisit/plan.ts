// When is a page visited next? When its changes want it, or, where a day has no room for all, when its score is high enough; 1 to 30 days on.
import { limits } from "../../schemas/limits.ts";
import { priorities, type UrlState } from "../../schemas/url-state.ts";
import { changeRate } from "./change-rate.ts";
import { onCommonDay } from "./common-day.ts";
import { passes, type ScoreThreshold, scoreAt } from "./day-scores.ts";
import { nextInterval, type Tier, tierOf } from "./interval.ts";
import { costFactor, crawlScore, daysUntilNeed, freshnessNeed, priorityFactor } from "./score.ts";

export type PlannedUrl = Pick<
  UrlState,
  "kind" | "depth" | "priority" | "lastOutcome" | "failureCount" | "lastFetchAt" | "nextFetchAt" | "changeHistory"
>;

export interface RevisitFacts {
  /** Unix ms at which the planned UTC day begins. */
  dayAt: number;
  /** 0 to 100 (pageQuality); undefined: not known. */
  quality?: number | undefined;
  /** Of the host's fetches: mean body over the wire and latency. */
  bodyBytes: number;
  latencyMs: number;
  /** At least 1: the interval of a copy of another page is so many times as long. */
  laterBy?: number;
}

/** What a page would have if there were room for all. */
export interface RevisitWish {
  /** Changes a day. */
  rate: number;
  tier: Tier;
  /** The interval that it wants. */
  wantedMs: number;
  /** At noon of the planned day, weighted days of freshness (crawlScore); undefined: it was fetched since the day began, and is not visited in it. */
  score?: number;
}

export interface RevisitBudget {
  /** What pages must pass on the planned day; undefined: there is room for all that want a visit. */
  threshold: ScoreThreshold | undefined;
  /** spreadOf its id and the planned day. */
  spread: number;
  /** The pace key of a host that is small enough to be visited on common days. */
  commonDaysOf?: string;
}

export type PlanReason =
  | "wanted" // when its changes want it
  | "within-budget" // on the planned day: its score is among those that there is room for
  | "over-budget"; // on the day on which its score is, if the threshold stays as it is

export interface RevisitPlan {
  nextFetchAt: number;
  reason: PlanReason;
}

const DAY_MS = 86_400_000;

/** undefined: the URL is no page that was fetched; what is gone, failed, redirected or forbidden is due when its completion said. */
export function revisitWish(url: PlannedUrl, facts: RevisitFacts): RevisitWish | undefined {
  if (url.lastFetchAt === undefined || url.failureCount > 0 || url.priority !== priorities.revisit) return undefined;
  if (url.lastOutcome !== "fetched" && url.lastOutcome !== "unchanged") return undefined;
  const rate = changeRate(url.changeHistory ?? []);
  const wantedMs = Math.min(limits.revisitMsMax, Math.round(nextInterval(url.changeHistory) * (facts.laterBy ?? 1)));
  const wish = { rate, tier: tierOf(wantedMs), wantedMs };
  if (url.lastFetchAt >= facts.dayAt) return wish;
  const days = (facts.dayAt + DAY_MS / 2 - url.lastFetchAt) / DAY_MS;
  return { ...wish, score: worthOf(url, facts) * freshnessNeed(rate, days) };
}

/** The visit that the wish of the same URL and facts comes to. It lies ahead of the day's beginning, or a day to thirty after the last visit. */
export function revisitPlan(
  url: PlannedUrl,
  facts: RevisitFacts,
  wish: RevisitWish,
  { threshold, spread, commonDaysOf }: RevisitBudget,
): RevisitPlan {
  const lastFetchAt = url.lastFetchAt ?? facts.dayAt;
  const plan = (wantedAt: number, reason: PlanReason): RevisitPlan => {
    const dueAt = Math.max(wantedAt, facts.dayAt);
    if (commonDaysOf === undefined) return { nextFetchAt: dueAt, reason };
    const visit = { paceKey: commonDaysOf, lastFetchAt, dueAt };
    const earlier = url.changeHistory?.at(-1)?.changed === true ? onCommonDay({ ...visit, toward: "earlier" }) : 0;
    const nextFetchAt = earlier >= facts.dayAt ? earlier : onCommonDay({ ...visit, toward: "later" });
    return { nextFetchAt: Math.max(nextFetchAt, facts.dayAt), reason };
  };
  if (threshold === undefined) return plan(lastFetchAt + wish.wantedMs, "wanted");
  if (wish.score !== undefined && passes(wish.score, threshold, spread))
    return plan(lastFetchAt + limits.revisitMsMin, "within-budget");
  const days = daysUntilNeed(wish.rate, scoreAt(threshold) / worthOf(url, facts));
  const earliest = wish.score === undefined ? lastFetchAt + limits.revisitMsMin : facts.dayAt + DAY_MS;
  const latest = Math.max(lastFetchAt, facts.dayAt) + limits.revisitMsMax;
  return plan(Math.min(latest, Math.max(earliest, lastFetchAt + Math.round(days * DAY_MS))), "over-budget");
}

/** What a day of its freshness counts. An interval that is n times as long comes with a worth n² times as small, where changes are rare. */
function worthOf({ kind, depth }: PlannedUrl, { quality, bodyBytes, latencyMs, laterBy = 1 }: RevisitFacts): number {
  const factors = { priority: priorityFactor({ kind, depth }), cost: costFactor({ bodyBytes, latencyMs }) };
  return crawlScore({ quality, need: 1, ...factors }) / laterBy ** 2;
}

const NOTICED_SHARE = 0.25; // of the wait; a day at least

/**
 * Whether a plan differs so much from what is stored that it is worth a write. Before the planned day is over is all one: it is due. Where
 * there is no room for all, who is due on that day and who is not is what the plan decides.
 */
export function isMoved(url: PlannedUrl, plan: RevisitPlan, dayAt: number): boolean {
  const dayEnd = dayAt + DAY_MS;
  const [onDay, wasOnDay] = [plan.nextFetchAt < dayEnd, url.nextFetchAt < dayEnd];
  if (onDay && wasOnDay) return false;
  if (onDay !== wasOnDay && plan.reason !== "wanted") return true;
  const wait = plan.nextFetchAt - (url.lastFetchAt ?? dayAt);
  return Math.abs(plan.nextFetchAt - url.nextFetchAt) >= Math.max(DAY_MS, wait * NOTICED_SHARE);
}

const ID_BYTES = 4;
const DAY_STEP = 0x9e3779b1; // odd, without a pattern: days differ in all bits

/**
 * From 0 to 1, evenly over the URLs, from the id's first bits and the day. Drawn anew each day: pages that had no luck on one day would
 * be fewer than their share on the next, if it were always the same ones.
 */
export function spreadOf(urlId: string, dayAt: number): number {
  const bytes = Buffer.alloc(ID_BYTES);
  bytes.write(urlId, "base64url");
  let bits = bytes.readUInt32BE(0) ^ Math.imul(Math.floor(dayAt / DAY_MS), DAY_STEP);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b); // the last steps of MurmurHash3
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}
