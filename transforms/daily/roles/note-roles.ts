// How does a record learn its role among near-duplicates? Range by range, records and clusters side by side; who writes meanwhile wins.
import type { DoFnDefinition } from "../../../beam/dofn.ts";
import type { DayFiles } from "../../../ports/day-files.ts";
import { clusterRolesNoted, type RolesNoted } from "../../../schemas/daily/cluster-tables.ts";
import type { ClusterRow } from "../../../schemas/daily/clusters.ts";
import { clusterTable } from "../../../schemas/daily/clusters.ts";
import { tableFolder } from "../../../schemas/daily/day-table.ts";
import { type KeyRange, type RowKey, rowKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import { patiently } from "../../patience.ts";
import { tableParts } from "../close-table.ts";
import { partOf, writeDayPart } from "../day-part.ts";
import { fewAtOnce } from "../few-at-once.ts";
import type { UrlRow } from "../host-runs.ts";
import { keyRange, rowsOf } from "../key-ranges.ts";
import type { DailyServices } from "../services.ts";
import { compareKeys } from "./write-clusters.ts";

type NoteServices = Pick<DailyServices, "tables" | "files" | "clock">;

/** May be done twice: a record that has its role already is counted as noted. */
export const noteRoles: DoFnDefinition<KeyRange, { parts: typeof tableParts }, { day: string }, NoteServices> = {
  form: "each",
  name: "dailyNoteRoles",
  input: keyRange,
  outputs: { parts: tableParts },
  make: ({ day }, services) => {
    const turn = fewAtOnce();
    return {
      process: (range, context) =>
        turn(async () => {
          const noted = await noteRange(services, day, range);
          const rows = noted.noted + noted.cleared + noted.superseded === 0 ? [] : [noted];
          const file = await writeDayPart(services.files, { day, table: clusterRolesNoted, part: range.part, rows });
          context.emit("parts", { key: clusterRolesNoted.name, value: file });
        }),
    };
  },
};

async function noteRange(services: NoteServices, day: string, range: KeyRange): Promise<RolesNoted> {
  const told = { noted: 0, cleared: 0, superseded: 0 };
  const clusters = clustersInOrder(services.files, day, range.part);
  try {
    for await (const rows of rowsOf(services.tables.urls, range)) {
      const changes: { row: UrlRow; cluster: UrlState["cluster"] }[] = [];
      for (const row of rows) {
        const found = await clusters.of(row.key);
        if (found !== undefined && sameCluster(row.value.cluster, found)) told.noted++;
        else if (found !== undefined || row.value.cluster !== undefined) changes.push({ row, cluster: found });
      }
      const written = await Promise.all(changes.map((change) => patiently(services, () => write(services, change))));
      for (const [index, { cluster }] of changes.entries())
        told[!written[index] ? "superseded" : cluster === undefined ? "cleared" : "noted"]++;
    }
    return { part: range.part, ...told };
  } finally {
    await clusters.end();
  }
}

async function write(
  { tables }: NoteServices,
  { row: { key, rev, value }, cluster }: { row: UrlRow; cluster: UrlState["cluster"] },
): Promise<boolean> {
  const { cluster: _, ...rest } = value;
  const after: UrlState = cluster === undefined ? rest : { ...rest, cluster };
  return (await tables.urls.compareAndSet(key, after, rev)) !== undefined;
}

function sameCluster(one: UrlState["cluster"], other: NonNullable<UrlState["cluster"]>): boolean {
  return one !== undefined && one.role === other.role && Buffer.from(one.id).equals(other.id);
}

/** Of a range, asked in the order of the keys. */
function clustersInOrder(files: DayFiles, day: string, part: string) {
  const rows = clusterRows(files, day, part);
  let next: ClusterRow | undefined;
  let isOver = false;
  const advance = async (): Promise<void> => {
    const step = await rows.next();
    isOver = step.done === true;
    next = step.done ? undefined : step.value;
  };
  return {
    async of(key: RowKey): Promise<NonNullable<UrlState["cluster"]> | undefined> {
      while (!isOver) {
        if (next === undefined) {
          await advance();
          continue;
        }
        const order = compareKeys(rowKey(next.paceKey, next.urlId), key);
        if (order > 0) return undefined;
        if (order === 0) return { id: Buffer.from(next.clusterId, "hex"), role: next.role };
        await advance();
      }
      return undefined;
    },
    end: async (): Promise<void> => void (await rows.return(undefined)),
  };
}

async function* clusterRows(files: DayFiles, day: string, part: string): AsyncGenerator<ClusterRow> {
  const folder = tableFolder(day, clusterTable);
  const found = (await files.list(folder)).find(({ name }) => partOf(name) === part);
  if (found === undefined) return;
  for await (const lines of files.lines(found.name)) for (const line of lines) yield JSON.parse(line) as ClusterRow;
}
