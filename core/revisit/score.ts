// What is a fetch of this page worth today? Crawl score = quality × need for freshness × priority ÷ cost; the highest scores are fetched.
import { limits } from "../../schemas/limits.ts";

export interface ScoreFactors {
  /** 0 to 100 (page-quality.ts); undefined: not known. */
  quality?: number | undefined;
  /** Days, freshnessNeed. */
  need: number;
  /** 1/4 to 4, priorityFactor. */
  priority: number;
  /** 1/4 to 4, costFactor. */
  cost: number;
}

/** Days of freshness, weighted: what a fetch gains for what it costs. At least 0, finite. */
export function crawlScore({ quality, need, priority, cost }: ScoreFactors): number {
  return (qualityFactor(quality) * need * priority) / cost;
}

const QUALITY_UNKNOWN = 50;
const QUALITY_MIN = 10; // a page without any is visited a tenth as eagerly as the best, and not never

function qualityFactor(quality = QUALITY_UNKNOWN): number {
  return Math.min(100, Math.max(QUALITY_MIN, quality)) / 100;
}

const FACTOR_MAX = 4; // one factor outweighs another by no more than a sixteenfold

/** By how near it is to what somebody named: 4 for seeds and sitemaps, 2 for what they link to, 1 from three links away on, down to 1/4. */
export function priorityFactor({ kind, depth }: { kind: "page" | "sitemap"; depth: number }): number {
  return kind === "sitemap" ? FACTOR_MAX : within(FACTOR_MAX / (1 + depth));
}

const BODY_BYTES = 200_000; // the mean body and the latency that count as cost 1: the design's section 9, and a second
const LATENCY_MS = 1000;

/** What a fetch takes beside its turn, as multiples of the usual: half of it bytes over the wire, half the server's time. 1/4 to 4. 0: not known, taken for the usual. */
export function costFactor({ bodyBytes, latencyMs }: { bodyBytes: number; latencyMs: number }): number {
  return within(((bodyBytes || BODY_BYTES) / BODY_BYTES + (latencyMs || LATENCY_MS) / LATENCY_MS) / 2);
}

function within(factor: number): number {
  return Math.min(FACTOR_MAX, Math.max(1 / FACTOR_MAX, factor));
}

const DAYS_MAX = limits.revisitMsMax / 86_400_000;

/** How need grows beyond the longest interval: a page of a thousandth of the usual score waits ten times as long, not for ever. */
const OVERDUE_POWER = 3;

/**
 * The need for freshness of a page `days` after its last visit, in days; `rate` is its changes a day. It is the marginal gain of visiting at
 * this interval (Cho and Garcia-Molina, Effective page refresh policies, 2003): a page visited f times a day is fresh for the share
 * F = f / rate × (1 - exp(-rate / f)) of the time, and dF/df = (1 - (1 + rate days) exp(-rate days)) / rate at f = 1 / days. Fetches are
 * spent best where this, weighted, is equal for all. It rises with the days, up to 1 / rate: a page that changes faster than it can
 * be visited gains little. Beyond 30 days it rises for ever, so that every page is visited at last.
 */
export function freshnessNeed(rate: number, days: number): number {
  if (days <= 0) return 0;
  const overdue = days > DAYS_MAX ? (days / DAYS_MAX) ** OVERDUE_POWER : 1;
  return marginalGain(rate, days) * overdue;
}

const SMALL = 1e-4; // below it the closed form loses its digits, and the first term is right to 1e-4

function marginalGain(rate: number, days: number): number {
  const changes = rate * days;
  if (changes < SMALL) return (changes * days) / 2;
  return (-Math.expm1(-changes) - changes * Math.exp(-changes)) / rate;
}

const SEARCH_DAYS = 3650;
const SEARCH_STEPS = 32; // halvings of ten years: to less than a second

/** After how many days the need has grown to `need`; at most ten years. */
export function daysUntilNeed(rate: number, need: number): number {
  let low = 0;
  let high = SEARCH_DAYS;
  for (let step = 0; step < SEARCH_STEPS; step++) {
    const middle = (low + high) / 2;
    if (freshnessNeed(rate, middle) < need) low = middle;
    else high = middle;
  }
  return high;
}
