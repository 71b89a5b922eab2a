// What does a host's day allow still, and which of its patterns are taken for endless? Its budgets, and the counts of its templates.
import { dayBudgetSpent } from "../../core/politeness/day-budget.ts";
import type { PacePolicy } from "../../core/politeness/policy.ts";
import { sketchEstimate } from "../../core/traps/sketch.ts";
import { isPaused } from "../../core/traps/template-verdict.ts";
import { policyFor } from "../../core/traps/url-policy.ts";
import { type CrawlReading, scanPages } from "../../pipelines/wiring.ts";
import type { HostState } from "../../schemas/host-state.ts";
import { afterPrefix, rowKey } from "../../schemas/row-key.ts";

export interface BudgetView {
  /** Of this UTC day. */
  pages: number;
  pagesPerDay: number;
  bytes: number;
  bytesPerDay: number;
}

export interface TrapView {
  hostKey: string;
  /** "" for the templates of the host itself. */
  template: string;
  /** Seen so far, as the sketch tells: within some per cent. */
  urls: number;
  /** Unix ms; when it first had more than its limit. */
  pausedAt: number;
  samples: string[];
}

export interface Traps {
  /** The largest first, TRAPS_MAX at most. */
  traps: TrapView[];
  trapsMore: number;
}

const TRAPS_MAX = 5;
const PAGE = 1_000; // rows of one scan; limits.templatesPerHost bounds them all

export function budgetOf(host: HostState | undefined, { dayBudget }: PacePolicy, now: number): BudgetView {
  const { pages, bytes } = dayBudgetSpent(host?.day, now);
  return { pages, bytes, ...dayBudget };
}

/** Patterns with more URLs than their limit, by the policies that hold now. */
export async function readTraps({ tables, config }: CrawlReading, paceKey: string): Promise<Traps> {
  const range = { from: rowKey(paceKey), to: afterPrefix(rowKey(paceKey)), limit: PAGE };
  const traps: TrapView[] = [];
  for await (const rows of scanPages(tables.templates, range))
    for (const { value } of rows) {
      const { hostKey, template, samples, pausedAt } = value;
      const { limits } = policyFor(config, hostKey, samples[0] ?? `${hostKey}/`);
      if (pausedAt === undefined || template === "" || !isPaused(value, limits)) continue;
      traps.push({ hostKey, template, urls: Math.round(sketchEstimate(value.sketch)), pausedAt, samples });
    }
  traps.sort((one, other) => other.urls - one.urls);
  return { traps: traps.slice(0, TRAPS_MAX), trapsMore: Math.max(0, traps.length - TRAPS_MAX) };
}
