// What do the pages of one host want together, and what is it to be asked for? Facts of its record and policy, and a histogram of its scores.

import { revisitFactor } from "../../../core/clusters/steering.ts";
import { gapMs, newHost } from "../../../core/politeness/host-clock.ts";
import { pacePolicy } from "../../../core/politeness/policy.ts";
import {
  addScore,
  type DayScores,
  emptyScores,
  noThreshold,
  type ScoreThreshold,
  scoreAt,
  scoresWithin,
  thresholdFor,
  wantMore,
} from "../../../core/revisit/day-scores.ts";
import { revisitsPerDay } from "../../../core/revisit/host-capacity.ts";
import { type RevisitFacts, revisitWish } from "../../../core/revisit/plan.ts";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import type { HostBudgetRow } from "../../../schemas/daily/revisit.ts";
import type { HostState } from "../../../schemas/host-state.ts";
import { priorities, type UrlState } from "../../../schemas/url-state.ts";
import type { HostRun } from "../host-runs.ts";

export interface HostWants {
  row: HostBudgetRow;
  /** Where its pages want more than it has room for. */
  threshold: ScoreThreshold | undefined;
  /** What of its wishes is left for a budget over all hosts. */
  scores: DayScores;
}

const MICRO = 1_000_000;

/** Host by host, in their order; of a host with billions of URLs a histogram is kept. */
export async function* hostWants(
  runs: AsyncIterable<HostRun>,
  { asOf, config }: { asOf: number; config: CrawlConfig },
): AsyncGenerator<HostWants> {
  let scores = emptyScores();
  let [urls, undiscovered] = [0, 0];
  for await (const { paceKey, host, rows, isFirst, isLast } of runs) {
    if (isFirst) [scores, urls, undiscovered] = [emptyScores(), 0, 0];
    for (const { value } of rows) {
      urls++;
      if (value.version === 0 && value.priority <= priorities.discovery) undiscovered++;
      const wish = revisitWish(value, revisitFacts(value, host, asOf));
      if (wish?.score !== undefined) addScore(scores, wish.score, wish.wantedMs);
    }
    if (!isLast) continue;
    const capacity = capacityOf(paceKey, host, undiscovered, config);
    const threshold = wantMore(scores, capacity) ? thresholdFor(scores, capacity) : undefined;
    const row = {
      ...{ paceKey, urls, undiscovered, wantedMilli: scores.wanted, capacity },
      ...(threshold === undefined ? {} : { thresholdMicro: Math.round(scoreAt(threshold) * MICRO) }),
    };
    yield { row, threshold, scores: scoresWithin(scores, threshold ?? noThreshold, capacity) };
  }
}

export function revisitFacts({ quality, cluster }: UrlState, host: HostState | undefined, asOf: number): RevisitFacts {
  return {
    dayAt: asOf,
    quality,
    bodyBytes: meanBody(host),
    latencyMs: host?.latencyMs ?? 0,
    ...(cluster === undefined ? {} : { laterBy: revisitFactor(cluster.role) }),
  };
}

function capacityOf(paceKey: string, host: HostState | undefined, undiscovered: number, config: CrawlConfig): number {
  const policy = pacePolicy(config, paceKey, host);
  if (policy.paused) return 0;
  const { concurrency, latencyFactor, dayBudget } = policy;
  return revisitsPerDay({
    ...{ concurrency, latencyFactor, dayBudget, undiscovered },
    delayMs: gapMs(host ?? newHost(0), policy),
    latencyMs: host?.latencyMs ?? 0,
    bodyBytes: meanBody(host),
  });
}

/** Over the wire, or as it was decoded: what the host's record adds up. 0: not known. */
function meanBody(host: HostState | undefined): number {
  return host === undefined || host.pages === 0 ? 0 : host.bodyBytes / host.pages;
}
