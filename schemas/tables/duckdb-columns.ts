// Which columns does DuckDB read from a line of JSON? The same as BigQuery has, with nothing left to its guessing.
import type { Column } from "./columns.ts";

const SCALARS = { STRING: "VARCHAR", INT64: "BIGINT", BOOL: "BOOLEAN" } as const;

/** The `columns` of read_json: {'at': 'BIGINT', …}. */
export function duckdbColumns(columns: readonly Column[]): string {
  return `{${columns.map((column) => `${quoted(column.name)}: ${quoted(duckdbType(column))}`).join(", ")}}`;
}

/** BIGINT, VARCHAR[], STRUCT("level" BIGINT, "text" VARCHAR)[]. DuckDB's structs and columns are all nullable. */
export function duckdbType({ type, mode, fields = [] }: Column): string {
  const one =
    type === "RECORD"
      ? `STRUCT(${fields.map((field) => `${identifier(field.name)} ${duckdbType(field)}`).join(", ")})`
      : SCALARS[type];
  return mode === "REPEATED" ? `${one}[]` : one;
}

/** A string of SQL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A name of SQL, whatever words are reserved. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
