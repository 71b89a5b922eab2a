// What does a manifest say of WARC segments? Their bytes and digests, and as rows the captures that their index lists.
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import { nameIn } from "../../../core/partitions/partition-files.ts";
import { fewAtOnce } from "../few-at-once.ts";
import type { DailyServices } from "../services.ts";
import { type ChosenFile, chosenFile, partitionParts } from "./choose-files.ts";

const INDEX = ".cdxj";

/** Of segments and their indexes; others pass by. */
export const closeSegments: DoFnDefinition<
  ChosenFile,
  { parts: typeof partitionParts },
  { day: string },
  Pick<DailyServices, "files">
> = {
  form: "each",
  name: "dailyCloseSegments",
  input: chosenFile,
  outputs: { parts: partitionParts },
  make: ({ day }, { files }) => {
    const turn = fewAtOnce();
    return {
      process: ({ family, path }, context) =>
        turn(async () => {
          if (family !== "pages") return;
          const file = await (path.endsWith(INDEX) ? files.measure(path) : segment(files, path));
          if (file === undefined) throw new Error(`${path} has gone while its day was closed`);
          context.emit("parts", { key: family, value: { ...file, name: nameIn(family, day, path) } });
        }),
    };
  },
};

async function segment(files: DailyServices["files"], path: string) {
  const [file, index] = await Promise.all([files.digest(path), files.measure(path.replace(/\.warc\.gz$/, INDEX))]);
  return file === undefined ? undefined : { ...file, rows: index?.rows ?? 0 };
}
