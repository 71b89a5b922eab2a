// What does one fetch event count as? In the sums of its host, of its status and of the whole crawl.
import type { FetchEvent } from "../../schemas/events.ts";
import { type Outcome, settledOutcomes } from "../../schemas/reasons.ts";
import type { Sums } from "./sums.ts";

export const hostCounts = [
  "requests", // that were made, or tried: robots.txt, pages and sitemaps
  "robots", // of those, for robots.txt
  "fetched",
  "unchanged",
  "redirects",
  "gone",
  "clientErrors",
  "serverErrors",
  "throttled",
  "failed", // no answer, or none that was kept
  "refused", // no request was made: robots.txt, a policy or the address guard forbids it
  "wireBytes",
  "bodyBytes",
  "latencyMs", // in all
  "answers", // that have a latency
  "dueUrgent", // pages of the two most urgent classes that were asked for
  "dueUrgentInTime", // of those, within ten minutes of their due time
] as const;
export type HostCount = (typeof hostCounts)[number];

const countedAs: Record<Outcome, HostCount> = {
  fetched: "fetched",
  unchanged: "unchanged",
  redirect: "redirects",
  gone: "gone",
  "client-error": "clientErrors",
  "server-error": "serverErrors",
  throttled: "throttled",
  failed: "failed",
  "refused-body": "failed",
  robots: "refused",
  address: "refused",
  excluded: "refused",
  held: "refused",
  poisoned: "failed",
};

/** Priority classes of which the design says when they are leased, and how soon. */
const URGENT_CLASS_MAX = 1;
const IN_TIME_MS = 600_000;

const settled: ReadonlySet<string> = new Set(settledOutcomes);

export function countsOf(event: FetchEvent): Partial<Sums<HostCount>> {
  const { outcome, kind, wireBytes = 0, bodyBytes = 0, latencyMs, dueAt, priority } = event;
  if (settled.has(outcome) || outcome === "poisoned") return { [countedAs[outcome]]: 1 };
  const isUrgent = dueAt !== undefined && priority !== undefined && priority <= URGENT_CLASS_MAX;
  return {
    requests: 1,
    ...(kind === "robots" ? { robots: 1 } : {}),
    [countedAs[outcome]]: 1,
    wireBytes,
    bodyBytes,
    ...(latencyMs === undefined ? {} : { latencyMs, answers: 1 }),
    ...(isUrgent ? { dueUrgent: 1, dueUrgentInTime: Number(event.at - dueAt <= IN_TIME_MS) } : {}),
  };
}
