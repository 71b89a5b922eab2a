// What do the records tell of politeness and of traps? The smallest gap of each host, and the patterns that have too many URLs.
import { keyed } from "../../../beam/coders.ts";
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { sketchEstimate } from "../../../core/traps/sketch.ts";
import { isPaused } from "../../../core/traps/template-verdict.ts";
import { policyFor } from "../../../core/traps/url-policy.ts";
import { type TrapRow, trapStatistics } from "../../../schemas/daily/statistics.ts";
import { type KeyRange, paceKeyOf } from "../../../schemas/row-key.ts";
import { tableParts } from "../close-table.ts";
import { writeDayPart } from "../day-part.ts";
import { fewAtOnce } from "../few-at-once.ts";
import { keyRange, rowsOf } from "../key-ranges.ts";
import type { DailyServices } from "../services.ts";
import { hostSums, noHostSums } from "./sums.ts";

export const readGaps: DoFnDefinition<
  KeyRange,
  { hosts: ReturnType<typeof keyed<ReturnType<typeof noHostSums>>> },
  Record<never, never>,
  Pick<DailyServices, "tables">
> = {
  form: "each",
  name: "dailyReadGaps",
  input: keyRange,
  outputs: { hosts: keyed(hostSums) },
  make: (_, { tables }) => {
    const turn = fewAtOnce();
    return {
      process: (range, context) =>
        turn(async () => {
          for await (const rows of rowsOf(tables.hosts, range))
            for (const { key, value } of rows) {
              if (value.smallestGap === undefined) continue;
              const { gapMs, allowedMs: gapOwedMs } = value.smallestGap;
              context.emit("hosts", { key: paceKeyOf(key), value: { ...noHostSums(), gap: { gapMs, gapOwedMs } } });
            }
        }),
    };
  },
};

export const writeTraps: DoFnDefinition<
  KeyRange,
  { parts: typeof tableParts },
  { day: string },
  Pick<DailyServices, "tables" | "files" | "live">
> = {
  form: "each",
  name: "dailyWriteTraps",
  input: keyRange,
  outputs: { parts: tableParts },
  make: ({ day }, { tables, files, live }) => {
    const turn = fewAtOnce();
    async function* traps(range: KeyRange): AsyncGenerator<TrapRow> {
      for await (const rows of rowsOf(tables.templates, range))
        for (const { value } of rows) {
          const { hostKey, template, samples, pausedAt } = value;
          if (pausedAt === undefined || template === "") continue;
          const { limits } = policyFor(live.now(), hostKey, samples[0] ?? `${hostKey}/`);
          if (!isPaused(value, limits)) continue;
          yield { hostKey, template, urls: Math.round(sketchEstimate(value.sketch)), pausedAt, samples };
        }
    }
    return {
      process: (range, context) =>
        turn(async () => {
          const file = await writeDayPart(files, { day, table: trapStatistics, part: range.part, rows: traps(range) });
          context.emit("parts", { key: trapStatistics.name, value: file });
        }),
    };
  },
};
