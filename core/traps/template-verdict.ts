// May one more URL of this template become a record? Beyond the limit the template is paused, and a sample of it still crawled.
import type { TrapLimits } from "../../schemas/crawl-config.ts";
import type { TemplateCount } from "../../schemas/template-count.ts";
import { digestNumber } from "../content/digest.ts";
import { sketchEstimate, sketchUnion, sketchWith } from "./sketch.ts";
import { hasQuery } from "./template.ts";

export type TemplateVerdict =
  | { kind: "taken" }
  /** Paused, and this URL is one of the sample: one in so many. */
  | { kind: "sampled"; oneIn: number }
  | { kind: "paused"; reason: "template-limit" };

/** URLs that a record keeps for people; longer ones are cut. */
const SAMPLES_MAX = 3;
const SAMPLE_CHARS_MAX = 200;

export function newTemplateCount(hostKey: string, template: string): TemplateCount {
  return { hostKey, template, sketch: new Uint8Array(), samples: [] };
}

/** The record with one more URL (or template, in a host's own record), named by its id; the same object where it was seen before. */
export function counted(count: TemplateCount, id: string, shown: string): TemplateCount {
  const sketch = sketchWith(count.sketch, id);
  if (sketch === count.sketch) return count;
  const text = shown.slice(0, SAMPLE_CHARS_MAX);
  const known = count.samples.length >= SAMPLES_MAX || count.samples.includes(text);
  return { ...count, sketch, samples: known ? count.samples : [...count.samples, text] };
}

/** What two workers counted, each on its own; the first object where the second adds nothing. */
export function mergedCounts(count: TemplateCount, other: TemplateCount): TemplateCount {
  const sketch = sketchUnion(count.sketch, other.sketch);
  const pausedAt = earliest(count.pausedAt, other.pausedAt);
  if (sketch === count.sketch && pausedAt === count.pausedAt) return count;
  const samples = [...new Set([...count.samples, ...other.samples])].slice(0, SAMPLES_MAX);
  return { ...count, sketch, samples, ...(pausedAt === undefined ? {} : { pausedAt }) };
}

/**
 * The verdict on a URL that the record has counted. The sample is a function of the URL alone and thins out as the template grows: one
 * in `sampleOneIn` up to twice the limit, half as many up to four times, and so on, so that an endless series gives no endless sample.
 * A URL that is in the sample of a large template is in that of a smaller one too.
 */
export function templateVerdict(count: TemplateCount, limits: TrapLimits, urlId: string): TemplateVerdict {
  const times = timesOver(count, limits);
  if (times <= 1) return { kind: "taken" };
  const oneIn = limits.sampleOneIn * 2 ** Math.floor(Math.log2(times));
  return drawOf(urlId) % oneIn === 0 ? { kind: "sampled", oneIn } : { kind: "paused", reason: "template-limit" };
}

/** Whether the template has more URLs than its limit. */
export function isPaused(count: TemplateCount, limits: TrapLimits): boolean {
  return timesOver(count, limits) > 1;
}

/** The template's URLs as a multiple of its limit. */
function timesOver(count: TemplateCount, limits: TrapLimits): number {
  return sketchEstimate(count.sketch) / Math.max(1, urlsMax(count.template, limits));
}

function urlsMax(template: string, limits: TrapLimits): number {
  return hasQuery(template) ? limits.urlsPerQueryTemplate : limits.urlsPerTemplate;
}

/** 48 bits that have nothing to do with those the sketch looks at. */
function drawOf(urlId: string): number {
  return digestNumber(`sample ${urlId}`);
}

function earliest(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}
