// Where does the closing of a day begin? With the files that belong to it, unless it is closed already: then nothing of it changes any more.
import { keyed, type Start, start } from "../../../beam/coders.ts";
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import {
  earlierDays,
  type Family,
  families,
  filesToClose,
  manifestPath,
  partitionFolder,
} from "../../../core/partitions/partition-files.ts";
import type { DayFiles } from "../../../ports/day-files.ts";
import { oneOf, struct, type TypeOf, text } from "../../../schemas/codec.ts";
import { MANIFEST, type PartitionManifest, partitionFile, partitionManifest } from "../../../schemas/daily/manifest.ts";
import { noPart } from "../close-table.ts";
import type { DailyServices } from "../services.ts";

export const chosenFile = struct({ family: oneOf(families), path: text });
export type ChosenFile = TypeOf<typeof chosenFile>;

/** Under the family. */
export const partitionParts = keyed(partitionFile);

export const chooseFiles: DoFnDefinition<
  Start,
  { files: typeof chosenFile; parts: typeof partitionParts },
  { day: string },
  Pick<DailyServices, "files">
> = {
  form: "each",
  name: "dailyChooseFiles",
  input: start,
  outputs: { files: chosenFile, parts: partitionParts },
  make: ({ day }, { files }) => ({
    async process(_, context) {
      for (const family of families) {
        context.emit("parts", { key: family, value: noPart });
        if ((await standingManifest(files, family, day)) !== undefined) continue;
        const earlier = await Promise.all(earlierDays(day).map((each) => folderOf(files, family, each)));
        for (const path of filesToClose(family, await folderOf(files, family, day), earlier))
          context.emit("files", { family, path });
      }
    },
  }),
};

async function folderOf(files: DayFiles, family: Family, day: string) {
  const found = (await files.list(partitionFolder(family, day))).map(({ name }) => name);
  return { day, found, manifest: await standingManifest(files, family, day) };
}

/** undefined: the day is not closed. Rejects where what stands there is no manifest. */
export async function standingManifest(files: DayFiles, family: Family, day: string): Promise<PartitionManifest | undefined> {
  const path = manifestPath(family, day);
  const found = await files.list(partitionFolder(family, day));
  if (!found.some(({ name }) => name === path)) return undefined;
  for await (const [line] of files.lines(path)) {
    const manifest: unknown = JSON.parse(line ?? "null");
    const fault = partitionManifest.fault(manifest, MANIFEST);
    if (fault !== undefined) throw new Error(`${path} is no manifest: ${fault}`);
    return manifest as PartitionManifest;
  }
  throw new Error(`${path} is empty`);
}
