// Did the soak hold? What was measured against what must be, a line for each thing that is not as it should be.
import { exitCodes } from "../../pipelines/exit-codes.ts";
import type { SoakCrawl, SoakEnd } from "./crawl.ts";
import type { Judgement } from "./judge.ts";
import { memoryOf } from "./memory.ts";

/** The mean of the last quarter over that of the second: issue 5's measure of flat memory. */
export const GROWTH_MAX = 1.15;
/** Ten minutes: before, caches are still filling and code is compiled, and what grows says nothing. */
export const SAMPLES_MIN = 120;
/** Two minutes: within them each kind of host and each attack is met. */
const MEETINGS_MIN = 24;

export interface SoakResult {
  judgement: Judgement;
  crawl: Pick<SoakCrawl, "samples" | "alarms" | "alarmsCount" | "last">;
  end: SoakEnd;
  /** Kinds of hosts that there were, and those that should have been asked until the end. */
  kinds: ReadonlySet<string>;
  steadyKinds: ReadonlySet<string>;
  /** Requests by kind before the last quarter of the time. */
  earlier: ReadonlyMap<string, number>;
}

/** What the web's hosts must have led the crawl to say: else it was spared what it should have met. */
export const REASONS: readonly string[] = [
  ...[
    "decoded-bytes",
    "wire-bytes",
    "body-timeout",
    "body-reset",
    "timeout",
    "reset",
    "protocol",
    "header-bytes",
    "tls",
    "address",
  ],
  ...["soft-404", "template-limit", "relative-growth", "repeated-segments", "echo", "fan-out", "redirect-hops"],
];

/** Requests of the last quarter of the time. */
export function lateRequests({ judgement, earlier }: Pick<SoakResult, "judgement" | "earlier">): Map<string, number> {
  return new Map([...judgement.kinds].map(([kind, count]) => [kind, count - (earlier.get(kind) ?? 0)]));
}

/** A line for each thing that does not hold. */
export function soakFaults(result: SoakResult): string[] {
  const { judgement, crawl, end } = result;
  const { growth } = memoryOf(crawl.samples);
  return [
    ...(judgement.violations > 0 ? [`${judgement.violations} violations of politeness`] : []),
    ...judgement.samples.map((line) => `  ${line}`),
    ...(crawl.samples.length >= SAMPLES_MIN && growth > GROWTH_MAX
      ? [`memory grew to ${growth.toFixed(2)} times, ${GROWTH_MAX} at most`]
      : []),
    ...(crawl.alarmsCount > 0 ? [`${crawl.alarmsCount} lines on stderr that should not be there`] : []),
    ...crawl.alarms.map((line) => `  ${line}`),
    ...(end.code === exitCodes.interrupted
      ? []
      : [`the crawl ended with ${end.code ?? "a signal"}, not ${exitCodes.interrupted}`]),
    ...(end.code === exitCodes.interrupted ? [] : crawl.last.map((line) => `  ${line}`)),
    ...(end.report === undefined ? ["the crawl gave no report"] : []),
    ...spared(result),
  ];
}

/** Whether there was too little time to meet everything. */
export function isShort({ samples }: Pick<SoakCrawl, "samples">): boolean {
  return samples.length < MEETINGS_MIN;
}

/** A soak of which the worst was left out shows nothing. */
function spared({ judgement, crawl, end, kinds, steadyKinds, earlier }: SoakResult): string[] {
  if (isShort(crawl)) return [];
  const late = lateRequests({ judgement, earlier });
  const unmet = [...kinds].filter((kind) => !judgement.kinds.has(kind));
  const ended = [...steadyKinds].filter((kind) => (late.get(kind) ?? 0) === 0);
  const said = { ...end.report?.reasons, ...end.report?.refusals };
  const unsaid = REASONS.filter((reason) => said[reason] === undefined);
  return [
    ...(unmet.length > 0 ? [`no host was asked of these kinds: ${unmet.join(", ")}`] : []),
    ...(ended.length > 0 ? [`hosts of these kinds were asked no more in the last quarter: ${ended.join(", ")}`] : []),
    ...(unsaid.length > 0 ? [`the crawl was not led to say: ${unsaid.join(", ")}`] : []),
  ];
}
