// From which score on may pages be visited, where a host or the whole crawl wants more than a day has room for? As it travels between the steps.
import { keyed } from "../../../beam/coders.ts";
import type { CombineDefinition, DoFnDefinition, Keyed } from "../../../beam/dofn.ts";
import {
  type DayScores,
  emptyScores,
  mergeScores,
  type ScoreThreshold,
  thresholdFor,
  wantMore,
} from "../../../core/revisit/day-scores.ts";
import { list, struct, type TypeOf, text, uint } from "../../../schemas/codec.ts";
import { keyRanges } from "../../../schemas/row-key.ts";

/** The key of what is about all hosts together. */
export const CRAWL = "";

export const dayScores = struct({ wanted: uint, counts: list(uint) });

/** Of a host, or of all (CRAWL). `bin` 0 with the whole share lets everything pass: then it only says that its range is there. */
export const rangeThreshold = struct({ paceKey: text, bin: uint, sharePico: uint });
export type RangeThreshold = TypeOf<typeof rangeThreshold>;

/** A host of five billion pages may visit a thousand of them a day: its share is 2e-7. */
const PARTS = 1e12;

export const wholeRange: RangeThreshold = { paceKey: CRAWL, bin: 0, sharePico: PARTS };

export function toldOf(paceKey: string, { bin, share }: ScoreThreshold): RangeThreshold {
  return { paceKey, bin, sharePico: Math.round(share * PARTS) };
}

export function thresholdOf({ bin, sharePico }: RangeThreshold): ScoreThreshold {
  return { bin, share: sharePico / PARTS };
}

export const crawlScores: CombineDefinition<DayScores, DayScores> = {
  form: "combine",
  name: "dailyCrawlScores",
  input: dayScores,
  accumulator: dayScores,
  create: emptyScores,
  add: mergeScores,
  merge: mergeScores,
};

/** One threshold over all hosts, told to every range. */
export const crawlThreshold: DoFnDefinition<
  Keyed<DayScores>,
  { thresholds: ReturnType<typeof keyed<RangeThreshold>> },
  { revisitsPerDay?: number },
  unknown
> = {
  form: "each",
  name: "dailyCrawlThreshold",
  input: keyed(dayScores),
  outputs: { thresholds: keyed(rangeThreshold) },
  make: ({ revisitsPerDay }) => ({
    process({ value: scores }, context) {
      if (revisitsPerDay === undefined || !wantMore(scores, revisitsPerDay)) return;
      const value = toldOf(CRAWL, thresholdFor(scores, revisitsPerDay));
      for (const { part } of keyRanges) context.emit("thresholds", { key: part, value });
    },
  }),
};
