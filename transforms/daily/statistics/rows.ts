// How do sums become rows of tables? Hosts by the range of their keys, everything else in one part; in an order that follows from the rows.
import { keyed } from "../../../beam/coders.ts";
import type { DoFnDefinition, GroupedDefinition, Keyed } from "../../../beam/dofn.ts";
import { timeBelow } from "../../../core/statistics/sums.ts";
import type { DayTable } from "../../../schemas/daily/day-table.ts";
import {
  type CrawlRow,
  crawlStatistics,
  type HostStatisticsRow,
  hostStatistics,
  type RefusalRow,
  refusalStatistics,
  type StatusRow,
  statusStatistics,
} from "../../../schemas/daily/statistics.ts";
import { rowKey } from "../../../schemas/row-key.ts";
import { tableParts } from "../close-table.ts";
import { writeDayPart } from "../day-part.ts";
import type { DailyServices } from "../services.ts";
import { CRAWL } from "./read-events.ts";
import { crawlSums, hostSums, type noHostSums, refusalSums, statusSums, sumCrawl } from "./sums.ts";

type HostSums = ReturnType<typeof noHostSums>;
const ofHosts = { rows: keyed(hostStatistics.row), crawl: keyed(crawlSums) };
const PART_CHARS = 2; // of a row key: its range
const P95 = 0.95;

/** Hosts of which no event tells have no row. */
export const hostRows: DoFnDefinition<Keyed<HostSums>, typeof ofHosts, Record<never, never>, unknown> = {
  form: "each",
  name: "dailyHostRows",
  input: keyed(hostSums),
  outputs: ofHosts,
  make: () => ({
    process({ key: paceKey, value }, context) {
      const { counts, latencies, gap, dayGapMs } = value;
      if (counts.requests + counts.refused + counts.failed === 0) return; // a page that was given up is failed without a request
      const { latencyMs, answers, ...told } = counts;
      const p95 = timeBelow(latencies, P95);
      const violations = gap !== undefined && gap.gapMs < gap.gapOwedMs ? 1 : 0;
      const row: HostStatisticsRow = {
        ...{ paceKey, ...told, ...gap, violations },
        ...(answers === 0 ? {} : { latencyMeanMs: Math.round(latencyMs / answers) }),
        ...(dayGapMs === undefined ? {} : { dayGapMs }),
        ...(p95 === undefined ? {} : { latencyP95Ms: p95 }),
      };
      context.emit("rows", { key: rowKey(paceKey).slice(0, PART_CHARS), value: row });
      context.emit("crawl", { key: CRAWL, value: { hosts: 1, violations } });
    },
  }),
};

type RowWriter<Row> = GroupedDefinition<Row, { parts: typeof tableParts }, { day: string }, Pick<DailyServices, "files">>;

/** The rows of a part are in memory together: hosts of a 256th of all, or a few. */
function rowWriter<Row>(name: string, table: DayTable<Row>, placeOf: (row: Row) => string): RowWriter<Row> {
  return {
    form: "grouped",
    name,
    input: table.row,
    outputs: { parts: tableParts },
    make: ({ day }, { files }) => ({
      async process(part, values, context) {
        const rows: Row[] = [];
        for await (const row of values) rows.push(row);
        rows.sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
        context.emit("parts", { key: table.name, value: await writeDayPart(files, { day, table, part, rows }) });
      },
    }),
  };
}

export const writeHosts = rowWriter("dailyWriteHosts", hostStatistics, ({ paceKey }) => paceKey);
export const writeStatuses = rowWriter(
  "dailyWriteStatuses",
  statusStatistics,
  ({ outcome, status = 0 }) => `${outcome} ${String(status).padStart(3, "0")}`,
);
export const writeRefusals = rowWriter(
  "dailyWriteRefusals",
  refusalStatistics,
  ({ reason, source = "" }) => `${reason} ${source}`,
);
export const writeCrawl = rowWriter("dailyWriteCrawl", crawlStatistics, () => "");

/** Under one key, so that they become one file. */
const ALL = "all";

export const statusRows: DoFnDefinition<
  Keyed<StatusRow>,
  { rows: ReturnType<typeof keyed<StatusRow>> },
  Record<never, never>,
  unknown
> = {
  form: "each",
  name: "dailyStatusRows",
  input: keyed(statusSums),
  outputs: { rows: keyed(statusStatistics.row) },
  make: () => ({ process: ({ value }, context) => context.emit("rows", { key: ALL, value }) }),
};

export const refusalRows: DoFnDefinition<
  Keyed<RefusalRow>,
  { rows: ReturnType<typeof keyed<RefusalRow>> },
  Record<never, never>,
  unknown
> = {
  form: "each",
  name: "dailyRefusalRows",
  input: keyed(refusalSums),
  outputs: { rows: keyed(refusalStatistics.row) },
  make: () => ({ process: ({ value }, context) => context.emit("rows", { key: ALL, value }) }),
};

export const crawlRows: DoFnDefinition<
  Keyed<ReturnType<typeof sumCrawl.create>>,
  { rows: ReturnType<typeof keyed<CrawlRow>> },
  Record<never, never>,
  unknown
> = {
  form: "each",
  name: "dailyCrawlRows",
  input: keyed(crawlSums),
  outputs: { rows: keyed(crawlStatistics.row) },
  make: () => ({
    process({ value }, context) {
      const { latencyMs: _l, answers: _a, ...counts } = { ...sumCrawl.create(), ...value } as Record<string, number>;
      context.emit("rows", { key: ALL, value: counts as unknown as CrawlRow });
    },
  }),
};
