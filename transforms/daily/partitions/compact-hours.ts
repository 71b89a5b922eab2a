// How do the many small segments of a day become few large ones before the day is closed? Hour by hour, where they lie, by whoever is given the hour.
import { keyed, type Start, start } from "../../../beam/coders.ts";
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { struct, type TypeOf, uint } from "../../../schemas/codec.ts";
import type { DailyServices } from "../services.ts";
import { standingManifest } from "./standing-manifest.ts";

const HOURS = 24;

export const compactedHour = struct({ hour: uint });
export type CompactedHour = TypeOf<typeof compactedHour>;

export const segmentHours: DoFnDefinition<Start, { hours: typeof compactedHour }, Record<never, never>, unknown> = {
  form: "each",
  name: "dailySegmentHours",
  input: start,
  outputs: { hours: compactedHour },
  make: () => ({
    process(_, context) {
      for (let hour = 0; hour < HOURS; hour++) context.emit("hours", { hour });
    },
  }),
};

/** All under one key, so that what comes behind waits for all of them. A closed day is left as its manifest says. */
const outputs = { done: keyed(compactedHour) };

export const compactHours: DoFnDefinition<
  CompactedHour,
  typeof outputs,
  { day: string },
  Pick<DailyServices, "files" | "compactHour">
> = {
  form: "each",
  name: "dailyCompactHours",
  input: compactedHour,
  outputs,
  make: ({ day }, { files, compactHour }) => ({
    async process({ hour }, context) {
      if (compactHour !== undefined && (await standingManifest(files, "pages", day)) === undefined)
        await compactHour(day, hour);
      context.emit("done", { key: day, value: { hour } });
    },
  }),
};
