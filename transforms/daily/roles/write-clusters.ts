// How do the rows of clusters become files? By the range of their URL's key and in its order, so that whoever reads the records can read along.
import { keyed } from "../../../beam/coders.ts";
import type { DoFnDefinition, GroupedDefinition, Keyed } from "../../../beam/dofn.ts";
import { indexPriority, storageClass } from "../../../core/clusters/steering.ts";
import { uint } from "../../../schemas/codec.ts";
import { clusterReport } from "../../../schemas/daily/cluster-tables.ts";
import { type ClusterRow, type ClusterTableRow, clusterRow, clusterTable } from "../../../schemas/daily/clusters.ts";
import { type RowKey, rowKey } from "../../../schemas/row-key.ts";
import { tableParts } from "../close-table.ts";
import { writeDayPart } from "../day-part.ts";
import type { DailyServices } from "../services.ts";

const PART_CHARS = 2; // of a row key: the range that it is in

/** From the row key to the part. */
export const byRange: DoFnDefinition<
  Keyed<ClusterRow>,
  { rows: ReturnType<typeof keyed<ClusterRow>> },
  Record<never, never>,
  unknown
> = {
  form: "each",
  name: "dailyClustersByRange",
  input: keyed(clusterRow),
  outputs: { rows: keyed(clusterRow) },
  make: () => ({
    process: ({ key, value }, context) => context.emit("rows", { key: key.slice(0, PART_CHARS), value }),
  }),
};

type PartWriter<V> = GroupedDefinition<V, { parts: typeof tableParts }, { day: string }, Pick<DailyServices, "files">>;

/** The rows of a part are in memory together, some 300 bytes each: at ten billion URLs, of which a third are in clusters, 4 GB. */
export const writeClusters: PartWriter<ClusterRow> = {
  form: "grouped",
  name: "dailyWriteClusters",
  input: clusterRow,
  outputs: { parts: tableParts },
  make: ({ day }, { files }) => ({
    async process(part, values, context) {
      const rows: { key: RowKey; row: ClusterRow }[] = [];
      for await (const row of values) rows.push({ key: rowKey(row.paceKey, row.urlId), row });
      rows.sort((one, other) => compareKeys(one.key, other.key));
      const sorted = rows.map(({ row }) => withMeaning(row));
      const file = await writeDayPart(files, { day, table: clusterTable, part, rows: sorted });
      context.emit("parts", { key: clusterTable.name, value: file });
    },
  }),
};

/** Of a new capture: how old this one is the record does not tell. */
function withMeaning(row: ClusterRow): ClusterTableRow {
  return { ...row, indexPriority: indexPriority(row.role), storageClass: storageClass(row.role, 0) };
}

/** As tables order them: by UTF-8 bytes, which is by code points. */
export function compareKeys(one: RowKey, other: RowKey): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** All counts under one key, so that they become one file. */
export const countRows: DoFnDefinition<
  Keyed<number>,
  { counts: ReturnType<typeof keyed<Count>> },
  Record<never, never>,
  unknown
> = {
  form: "each",
  name: "dailyClusterCounts",
  input: keyed(uint),
  outputs: { counts: keyed(clusterReport.row) },
  make: () => ({
    process: ({ key: name, value: count }, context) => context.emit("counts", { key: "all", value: { name, count } }),
  }),
};

type Count = { name: string; count: number };

export const writeCounts: PartWriter<Count> = {
  form: "grouped",
  name: "dailyWriteClusterCounts",
  input: clusterReport.row,
  outputs: { parts: tableParts },
  make: ({ day }, { files }) => ({
    async process(part, values, context) {
      const rows: Count[] = [];
      for await (const count of values) rows.push(count);
      rows.sort((one, other) => (one.name < other.name ? -1 : 1));
      const file = await writeDayPart(files, { day, table: clusterReport, part, rows });
      context.emit("parts", { key: clusterReport.name, value: file });
    },
  }),
};
