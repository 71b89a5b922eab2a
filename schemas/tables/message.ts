// Would a Pub/Sub subscription with use_table_schema write this message? https://cloud.google.com/pubsub/docs/bigquery#use-table-schema.
import type { Column } from "./columns.ts";

/** What is wrong with the message, as `path: reason`; undefined where BigQuery would take it as a row. Never throws. */
export function messageFault(columns: readonly Column[], message: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    return "not JSON";
  }
  return recordFault(columns, value, "");
}

/** What is wrong with the names of the columns themselves: letters, digits, underscores, and no two that differ in case alone. */
export function columnNamesFault(columns: readonly Column[]): string | undefined {
  const seen = new Set<string>();
  for (const { name, fields } of columns) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,299}$/.test(name)) return `${name}: not letters, digits and underscores`;
    if (RESERVED.test(name)) return `${name}: begins as only BigQuery's own columns may`;
    if (seen.has(name.toLowerCase())) return `${name}: there twice, case aside`;
    seen.add(name.toLowerCase());
    const below = fields === undefined ? undefined : columnNamesFault(fields);
    if (below !== undefined) return `${name}.${below}`;
  }
  return undefined;
}

/** https://cloud.google.com/bigquery/docs/schemas#column_names */
const RESERVED = /^(?:_TABLE_|_FILE_|_PARTITION|_ROW_TIMESTAMP|__ROOT__|_COLIDENTIFIER)/i;

function recordFault(columns: readonly Column[], value: unknown, path: string): string | undefined {
  if (!isRecord(value)) return `${path === "" ? "message" : path}: not an object`;
  const known = new Map(columns.map((column) => [column.name, column]));
  const unknown = Object.keys(value).find((name) => !known.has(name));
  if (unknown !== undefined) return `${at(path, unknown)}: no such column`;
  for (const column of columns) {
    const fault = fieldFault(column, value[column.name], at(path, column.name));
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function fieldFault(column: Column, value: unknown, path: string): string | undefined {
  if (column.mode === "REPEATED") return listFault(column, value, path);
  if (value !== undefined && value !== null) return valueFault(column, value, path);
  return column.mode === "REQUIRED" ? `${path}: required, and absent` : undefined;
}

/** An absent list is an empty one; a null inside of one is refused. */
function listFault(column: Column, value: unknown, path: string): string | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) return `${path}: not a list`;
  for (const [index, item] of value.entries()) {
    const fault = valueFault(column, item, `${path}[${index}]`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Stricter than Pub/Sub, which also reads some numbers from strings: ours never need it. */
function valueFault({ type, fields = [] }: Column, value: unknown, path: string): string | undefined {
  switch (type) {
    case "STRING":
      return typeof value === "string" ? undefined : `${path}: not a string`;
    case "BOOL":
      return typeof value === "boolean" ? undefined : `${path}: not true or false`;
    case "INT64": // beyond 2^53 a number of JSON is not the number that was meant
      return Number.isSafeInteger(value) ? undefined : `${path}: not a whole number that JSON can hold`;
    case "RECORD":
      return recordFault(fields, value, path);
  }
}

function at(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
