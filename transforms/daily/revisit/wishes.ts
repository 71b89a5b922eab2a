// What do the pages of a range's hosts want of the day that begins? A row a host, and what the planning of each URL needs to know.
import { keyed } from "../../../beam/coders.ts";
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { hostBudgets } from "../../../schemas/daily/revisit.ts";
import type { KeyRange } from "../../../schemas/row-key.ts";
import { tableParts } from "../close-table.ts";
import { writeDayPart } from "../day-part.ts";
import { fewAtOnce } from "../few-at-once.ts";
import { hostRuns } from "../host-runs.ts";
import { keyRange } from "../key-ranges.ts";
import type { DailyServices } from "../services.ts";
import { hostWants } from "./host-wants.ts";
import { CRAWL, dayScores, rangeThreshold, toldOf, wholeRange } from "./thresholds.ts";

export interface RevisitConfig {
  day: string;
  /** Unix ms: the end of the day, and the beginning of the one that is planned. */
  asOf: number;
  /** Of the whole crawl, revisits a day; absent: hosts alone bound them. */
  revisitsPerDay?: number;
}

const thresholds = keyed(rangeThreshold);
const scores = keyed(dayScores);
const outputs = { parts: tableParts, thresholds, scores };

export const revisitWishes: DoFnDefinition<
  KeyRange,
  typeof outputs,
  RevisitConfig,
  Pick<DailyServices, "tables" | "files" | "live">
> = {
  form: "each",
  name: "dailyRevisitWishes",
  input: keyRange,
  outputs,
  make: ({ day, asOf, revisitsPerDay }, { tables, files, live }) => {
    const turn = fewAtOnce();
    return {
      process: (range, context) =>
        turn(async () => {
          const { part } = range;
          // So that its URLs are planned, whether any of its hosts has a threshold or not.
          context.emit("thresholds", { key: part, value: wholeRange });
          async function* rows() {
            for await (const wants of hostWants(hostRuns(tables, range), { asOf, config: live.now() })) {
              const { row, threshold } = wants;
              if (threshold !== undefined) context.emit("thresholds", { key: part, value: toldOf(row.paceKey, threshold) });
              if (revisitsPerDay !== undefined && wants.scores.wanted > 0)
                context.emit("scores", { key: CRAWL, value: wants.scores });
              yield row;
            }
          }
          const file = await writeDayPart(files, { day, table: hostBudgets, part, rows: rows() });
          context.emit("parts", { key: hostBudgets.name, value: file });
        }),
    };
  },
};
