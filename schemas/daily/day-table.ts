// What is a table that the daily pipeline makes? Rows of one shape in files of a day, which DuckDB and BigQuery both load.
import type { Codec } from "../codec.ts";
import type { Words } from "../tables/columns.ts";

export interface DayTable<Row> {
  /** A folder of daily/dt=…/, and BigQuery's table with underscores. */
  name: string;
  version: number;
  /** Its shape is that of a row; rows travel as JSON. */
  row: Codec<Row>;
  /** What is said of each column. */
  words: Words;
}

// biome-ignore lint/suspicious/noExplicitAny: tables of all rows stand in one list
export type AnyDayTable = DayTable<any>;

/** Of everything that the daily pipeline made for that day (UTC, YYYY-MM-DD). */
function dailyFolder(day: string): string {
  return `daily/dt=${day}`;
}

export function tableFolder(day: string, table: Pick<AnyDayTable, "name">): string {
  return `${dailyFolder(day)}/${table.name}`;
}
