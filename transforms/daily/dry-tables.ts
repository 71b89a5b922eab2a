// What would be written to the records of a crawl? Tables that are read as ever, and whose every write succeeds and changes nothing.
import type { RecordTable, VersionedTable } from "../../ports/versioned-table.ts";
import type { Tables } from "../services.ts";

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
