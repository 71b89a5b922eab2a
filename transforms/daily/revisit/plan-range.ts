// When is each URL of a range visited next? Judged with the thresholds of its host and of the crawl; those that move noticeably are written down.
import type { GroupedDefinition } from "../../../beam/dofn.ts";
import { higherThreshold, type ScoreThreshold } from "../../../core/revisit/day-scores.ts";
import { isMoved, revisitPlan, revisitWish, spreadOf } from "../../../core/revisit/plan.ts";
import { revisitSchedule, type ScheduleRow } from "../../../schemas/daily/revisit.ts";
import { keyRanges, rowKey } from "../../../schemas/row-key.ts";
import { tableParts } from "../close-table.ts";
import { writeDayPart } from "../day-part.ts";
import { type HostRun, hostRuns, type UrlRow } from "../host-runs.ts";
import type { DailyServices } from "../services.ts";
import { revisitFacts } from "./host-wants.ts";
import { CRAWL, type RangeThreshold, rangeThreshold, thresholdOf, wholeRange } from "./thresholds.ts";
import type { RevisitConfig } from "./wishes.ts";

/** Keyed by the range's part. */
export const planRange: GroupedDefinition<
  RangeThreshold,
  { parts: typeof tableParts },
  RevisitConfig,
  Pick<DailyServices, "tables" | "files">
> = {
  form: "grouped",
  name: "dailyPlanRange",
  input: rangeThreshold,
  outputs: { parts: tableParts },
  make: ({ day, asOf }, { tables, files }) => ({
    async process(part, values, context) {
      const range = keyRanges.find((each) => each.part === part);
      if (range === undefined) throw new Error(`no range of keys is called '${part}'`);
      const known = await thresholdsOf(values);
      const rows = scheduleRows(hostRuns(tables, range), known, asOf);
      const file = await writeDayPart(files, { day, table: revisitSchedule, part, rows });
      context.emit("parts", { key: revisitSchedule.name, value: file });
    },
  }),
};

/** Of the range's hosts that have one, some 60 bytes each, and of the crawl. */
async function thresholdsOf(values: AsyncIterable<RangeThreshold>): Promise<ReadonlyMap<string, ScoreThreshold>> {
  const known = new Map<string, ScoreThreshold>();
  for await (const value of values)
    if (value.bin !== wholeRange.bin || value.sharePico !== wholeRange.sharePico) known.set(value.paceKey, thresholdOf(value));
  return known;
}

async function* scheduleRows(
  runs: AsyncIterable<HostRun>,
  known: ReadonlyMap<string, ScoreThreshold>,
  asOf: number,
): AsyncGenerator<ScheduleRow> {
  for await (const run of runs) {
    const threshold = either(known.get(run.paceKey), known.get(CRAWL));
    for (const row of run.rows) {
      const planned = plannedRow(run, row, threshold, asOf);
      if (planned !== undefined) yield planned;
    }
  }
}

function either(one: ScoreThreshold | undefined, other: ScoreThreshold | undefined): ScoreThreshold | undefined {
  return one === undefined || other === undefined ? (one ?? other) : higherThreshold(one, other);
}

const HOUR_MS = 3_600_000;
const MICRO = 1_000_000;

/** undefined: it is no page that was fetched, or its due time stays about as it is. */
function plannedRow(
  { paceKey, host, isFirst, isLast }: HostRun,
  { key, value }: UrlRow,
  threshold: ScoreThreshold | undefined,
  asOf: number,
): ScheduleRow | undefined {
  const facts = revisitFacts(value, host, asOf);
  const wish = revisitWish(value, facts);
  if (wish === undefined) return undefined;
  const urlId = key.slice(rowKey(paceKey).length);
  // A host that fits into one run is small; one that has no room for all its pages has no day for them in common.
  const isSmall = isFirst && isLast && threshold === undefined;
  const budget = { threshold, spread: spreadOf(urlId, asOf), ...(isSmall ? { commonDaysOf: paceKey } : {}) };
  const plan = revisitPlan(value, facts, wish, budget);
  if (!isMoved(value, plan, asOf)) return undefined;
  return {
    ...{ urlId, paceKey, url: value.canonicalUrl, version: value.version, tier: wish.tier },
    changesMicro: Math.round(wish.rate * MICRO),
    ...(wish.score === undefined ? {} : { scoreMicro: Math.round(wish.score * MICRO) }),
    reason: plan.reason,
    wantedHours: Math.round(wish.wantedMs / HOUR_MS),
    dueBefore: value.nextFetchAt,
    dueAt: Math.round(plan.nextFetchAt),
  };
}
