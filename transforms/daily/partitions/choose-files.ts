// Which files belong to the day that is closed? Looked up once no segment moves any more, unless it is closed already: then nothing of it changes.
import { keyed } from "../../../beam/coders.ts";
import type { GroupedDefinition } from "../../../beam/dofn.ts";
import { earlierDays, type Family, families, filesToClose, partitionFolder } from "../../../core/partitions/partition-files.ts";
import { groupsOfSmall } from "../../../core/partitions/small-files.ts";
import type { DayFiles } from "../../../ports/day-files.ts";
import { oneOf, struct, type TypeOf, text } from "../../../schemas/codec.ts";
import { partitionFile } from "../../../schemas/daily/manifest.ts";
import { noPart } from "../close-table.ts";
import type { DailyServices } from "../services.ts";
import { type CompactedHour, compactedHour } from "./compact-hours.ts";
import { standingManifest } from "./standing-manifest.ts";

/** `group`: of documents, the first of the files that become one with it; of pages, the file itself. */
export const chosenFile = struct({ family: oneOf(families), path: text, group: text });
export type ChosenFile = TypeOf<typeof chosenFile>;

/** Under the family. */
export const partitionParts = keyed(partitionFile);

export interface ClosingConfig {
  day: string;
  /** How large a file of documents is that is joined of small ones; default JOINED_BYTES. */
  joinedBytes?: number;
}

/** Behind the compaction of the day's hours, whatever that came to. */
export const chooseFiles: GroupedDefinition<
  CompactedHour,
  { files: typeof chosenFile; parts: typeof partitionParts },
  ClosingConfig,
  Pick<DailyServices, "files">
> = {
  form: "grouped",
  name: "dailyChooseFiles",
  input: compactedHour,
  outputs: { files: chosenFile, parts: partitionParts },
  make: ({ day, joinedBytes }, { files }) => ({
    async process(_key, hours, context) {
      for await (const _hour of hours); // each has ended
      for (const family of families) {
        context.emit("parts", { key: family, value: noPart });
        if ((await standingManifest(files, family, day)) !== undefined) continue;
        for (const group of await groupsToClose(files, family, { day, ...(joinedBytes === undefined ? {} : { joinedBytes }) }))
          for (const path of group) context.emit("files", { family, path, group: group[0]! });
      }
    },
  }),
};

async function groupsToClose(files: DayFiles, family: Family, { day, joinedBytes }: ClosingConfig): Promise<string[][]> {
  const days = await Promise.all([day, ...earlierDays(day)].map((each) => folderOf(files, family, each)));
  const bytes = new Map(days.flatMap(({ sized }) => sized.map((file) => [file.name, file.bytes])));
  const [today, ...earlier] = days;
  const paths = filesToClose(family, today!, earlier);
  if (family === "pages") return paths.map((path) => [path]); // references name segments, which are composed where they lie
  return groupsOfSmall(
    paths.map((path) => ({ path, bytes: bytes.get(path)! })),
    joinedBytes,
  );
}

async function folderOf(files: DayFiles, family: Family, day: string) {
  const sized = await files.list(partitionFolder(family, day));
  return { day, sized, found: sized.map(({ name }) => name), manifest: await standingManifest(files, family, day) };
}
