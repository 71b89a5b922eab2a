// When may others read a table of the day? Once its manifest stands, which is written last, over exactly the parts that this run made.
import { keyed } from "../../beam/coders.ts";
import type { GroupedDefinition } from "../../beam/dofn.ts";
import { struct, text, uint } from "../../schemas/codec.ts";
import { type AnyDayTable, tableFolder } from "../../schemas/daily/day-table.ts";
import { MANIFEST, type PartitionFile, type PartitionManifest, partitionFile } from "../../schemas/daily/manifest.ts";
import { columnsOf } from "../../schemas/tables/columns.ts";
import { partOf } from "./day-part.ts";
import type { DailyServices } from "./services.ts";

/** A part of a table, under the table's name. */
export const tableParts = keyed(partitionFile);

/** Told once, a table without any other part is closed as well: over nothing. */
export const noPart: PartitionFile = { name: "none", rows: 0, bytes: 0, sha256: "" };

const closedTable = struct({ table: text, files: uint, rows: uint, bytes: uint });

/** BigQuery's columns, beside the manifest: `bq load` and DuckDB need nothing else. */
export const SCHEMA = "schema.json";

/** `tables`: all that may be closed. Config: the day. */
export function closeTables(
  name: string,
  tables: readonly AnyDayTable[],
): GroupedDefinition<PartitionFile, { closed: typeof closedTable }, { day: string }, Pick<DailyServices, "files">> {
  return {
    form: "grouped",
    name,
    input: partitionFile,
    outputs: { closed: closedTable },
    make: ({ day }, { files }) => ({
      async process(tableName, parts, context) {
        const table = tables.find((each) => each.name === tableName);
        if (table === undefined) throw new Error(`no table of the day is called '${tableName}'`);
        const written = await byName(parts);
        const manifest = manifestOf(table, day, written);
        const folder = tableFolder(day, table);
        const named = new Set(written.map((file) => `${folder}/${file.name}`));
        const stale = (await files.list(folder)).map((found) => found.name).filter((found) => !named.has(found));
        const isPart = (found: string) => partOf(found) !== undefined;
        // What an earlier try left under names that this one did not use: readers who take all parts would take it.
        for (const found of stale.filter(isPart)) await files.remove(found);
        await files.writeLines(`${folder}/${SCHEMA}`, [JSON.stringify(columnsOf(table.row.shape, table.words))]);
        await files.writeLines(`${folder}/${MANIFEST}`, [JSON.stringify(manifest)]);
        // Notes of the work, which a next try needs until the table is closed.
        const kept = [`${folder}/${SCHEMA}`, `${folder}/${MANIFEST}`];
        for (const found of stale) if (!isPart(found) && !kept.includes(found)) await files.remove(found);
        context.emit("closed", { table: table.name, files: written.length, rows: manifest.rows, bytes: manifest.bytes });
      },
    }),
  };
}

/** A part that was told twice is one; a part of no rows has no file. */
async function byName(parts: AsyncIterable<PartitionFile>): Promise<PartitionFile[]> {
  const found = new Map<string, PartitionFile>();
  for await (const part of parts) if (part.rows > 0) found.set(part.name, part);
  return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

function manifestOf(table: AnyDayTable, day: string, files: PartitionFile[]): PartitionManifest {
  const sum = (of: "rows" | "bytes") => files.reduce((total, file) => total + file[of], 0);
  return { table: table.name, day, schemaVersion: table.version, rows: sum("rows"), bytes: sum("bytes"), files };
}
