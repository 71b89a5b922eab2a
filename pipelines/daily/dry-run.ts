// What would the daily pipeline do? All is read and judged as ever; what would be written is counted and goes nowhere.
import type { DayFiles } from "../../ports/day-files.ts";
import type { RecordTable, VersionedTable } from "../../ports/versioned-table.ts";
import type { Tables } from "../../transforms/services.ts";

/** Lines are counted; bytes and digests are not known. `would` is told of each file that would stand. */
export function dryFiles(files: DayFiles, would: (name: string, rows: number) => void): DayFiles {
  return {
    ...files,
    async writeLines(name, lines) {
      let rows = 0;
      for await (const _ of lines) rows++;
      would(name, rows);
      return { name, rows, bytes: 0, sha256: "" };
    },
    remove: async () => {},
  };
}

/** Every write succeeds and changes nothing. */
export function dryTables(tables: Tables): Tables {
  const records = Object.entries({ ...tables, due: undefined }).filter(([, table]) => table !== undefined);
  return {
    ...(Object.fromEntries(
      records.map(([name, table]) => [name, dryRecords(table as RecordTable<unknown>)]),
    ) as unknown as Tables),
    due: dryTable(tables.due),
  };
}

const REV = "not written";

function dryRecords<T>(table: RecordTable<T>): RecordTable<T> {
  return {
    ...table,
    insertIfAbsent: async (records) => records.map(() => true),
    compareAndSet: async () => REV,
    delete: async (rows) => rows.map(() => true),
  };
}

function dryTable(table: VersionedTable): VersionedTable {
  return {
    ...table,
    insertIfAbsent: async (rows) => rows.map(() => true),
    compareAndSet: async () => true,
    delete: async (rows) => rows.map(() => true),
    put: async () => {},
    drop: async () => {},
  };
}
