// When is a day's output complete? Once its manifest stands; one that stands is never written again.
import type { GroupedDefinition } from "../../../beam/dofn.ts";
import { type Family, families, manifestPath, partitionFolder } from "../../../core/partitions/partition-files.ts";
import { struct, text, uint } from "../../../schemas/codec.ts";
import { type PartitionFile, type PartitionManifest, partitionFile } from "../../../schemas/daily/manifest.ts";
import { pageDocument } from "../../../schemas/events.ts";
import { columnsOf } from "../../../schemas/tables/columns.ts";
import { noPart, SCHEMA } from "../close-table.ts";
import type { DailyServices } from "../services.ts";
import { standingManifest } from "./standing-manifest.ts";

const closedPartition = struct({ family: text, files: uint });
const SCHEMA_VERSION: Record<Family, number> = { documents: 1, pages: 1 };

/** Under the family. */
export const closePartition: GroupedDefinition<
  PartitionFile,
  { closed: typeof closedPartition },
  { day: string },
  Pick<DailyServices, "files">
> = {
  form: "grouped",
  name: "dailyClosePartition",
  input: partitionFile,
  outputs: { closed: closedPartition },
  make: ({ day }, { files }) => ({
    async process(key, values, context) {
      const family = families.find((each) => each === key);
      if (family === undefined) throw new Error(`no family of files is called '${key}'`);
      const found = new Map<string, PartitionFile>();
      for await (const file of values) if (file.name !== noPart.name) found.set(file.name, file);
      if ((await standingManifest(files, family, day)) !== undefined) return;
      const manifest = manifestOf(family, day, [...found.values()]);
      if (family === "documents")
        await files.writeLines(`${partitionFolder(family, day)}/${SCHEMA}`, [JSON.stringify(columnsOf(pageDocument.shape))]);
      await files.writeLines(manifestPath(family, day), [JSON.stringify(manifest)]);
      context.emit("closed", { family, files: manifest.files.length });
    },
  }),
};

function manifestOf(family: Family, day: string, given: PartitionFile[]): PartitionManifest {
  const files = given.map(({ name, rows, bytes, sha256 }) => ({ name, rows, bytes, sha256 }));
  files.sort((one, other) => (one.name < other.name ? -1 : 1));
  // An index's lines are the captures of its segment.
  const counted = files.filter(({ name }) => !name.endsWith(".cdxj"));
  return {
    ...{ table: family, day, schemaVersion: SCHEMA_VERSION[family] },
    rows: counted.reduce((sum, { rows }) => sum + rows, 0),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    files,
  };
}
