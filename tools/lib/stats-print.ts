// How are rows put on paper? An aligned table for people, CSV and JSON for programs.
import type { DuckDBValue } from "@duckdb/node-api";
import { counted, shown } from "./words.ts";

export type Format = "table" | "csv" | "json";

export type Write = (text: string) => Promise<void>;

type Plain = string | number | boolean | null | Plain[] | { [name: string]: Plain };

export interface Printing {
  columns: readonly string[];
  rows: AsyncIterable<DuckDBValue[][]>;
  /** Rows printed at most; of a table how many more there are is said below it. */
  rowsMax: number;
  write: Write;
}

/** Holds no more rows than it prints, and of CSV and JSON none. */
export async function print(format: Format, printing: Printing): Promise<void> {
  if (format === "table") return printTable(printing);
  return format === "csv" ? printCsv(printing) : printJson(printing);
}

const CELL_CHARS = 80;
const NOTHING = "-"; // SQL's NULL

async function printTable({ columns, rows, rowsMax, write }: Printing): Promise<void> {
  const kept: Plain[][] = [];
  let count = 0;
  for await (const some of rows) {
    for (const row of some.slice(0, Math.max(0, rowsMax - count))) kept.push(row.map(plain));
    count += some.length;
  }
  const cells = kept.map((row) => row.map(cellText));
  const widths = columns.map((name, place) => cells.reduce((most, row) => Math.max(most, width(row[place]!)), width(name)));
  const right = columns.map((_, place) => isNumbers(kept.map((row) => row[place]!)));
  const line = (row: readonly string[]): string =>
    row
      .map((text, place) => padded(text, widths[place]!, right[place]!))
      .join("  ")
      .trimEnd();
  const rule = widths.map((chars) => "-".repeat(chars)).join("  ");
  const more = count > kept.length ? `, ${counted(count - kept.length, "more row")} not shown (--rows, --csv, --json)` : "";
  await write(`${[line(columns), rule, ...cells.map(line)].join("\n")}\n${counted(kept.length, "row")}${more}\n`);
}

/** RFC 4180, but with one line feed a line; nothing for NULL. */
async function printCsv({ columns, rows, rowsMax, write }: Printing): Promise<void> {
  await write(`${columns.map(csvText).join(",")}\n`);
  for await (const some of firstOf(rows, rowsMax))
    await write(some.map((row) => `${row.map((value) => csvText(csvCell(plain(value)))).join(",")}\n`).join(""));
}

/** One array of objects, a row a line. */
async function printJson({ columns, rows, rowsMax, write }: Printing): Promise<void> {
  let before = "[";
  for await (const some of firstOf(rows, rowsMax))
    for (const row of some) {
      await write(`${before}\n${JSON.stringify(Object.fromEntries(columns.map((name, place) => [name, plain(row[place]!)])))}`);
      before = ",";
    }
  await write(before === "[" ? "[]\n" : "\n]\n");
}

async function* firstOf<T>(rows: AsyncIterable<T[]>, most: number): AsyncGenerator<T[]> {
  let left = most;
  for await (const some of rows) {
    if (left <= 0) return;
    yield some.slice(0, left);
    left -= some.length;
  }
}

/** Whole numbers beyond 2^53 as text, times as ISO 8601, what JSON has no form for as DuckDB writes it. */
function plain(value: DuckDBValue): Plain {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if ("micros" in value && /^DuckDBTimestamp/.test(value.constructor.name)) return instant(value.micros, value);
  if ("items" in value) return value.items.map(plain);
  if ("scale" in value) return Number(value.toString());
  if ("entries" in value) return Object.fromEntries(entriesOf(value.entries));
  return value.toString();
}

function entriesOf(entries: { [name: string]: DuckDBValue } | { key: DuckDBValue; value: DuckDBValue }[]): [string, Plain][] {
  if (Array.isArray(entries)) return entries.map(({ key, value }) => [String(plain(key)), plain(value)]);
  return Object.entries(entries).map(([name, value]) => [name, plain(value)]);
}

function instant(micros: bigint, value: object): string {
  const date = new Date(Number(micros / 1000n));
  return Number.isNaN(date.getTime()) ? String(value) : date.toISOString();
}

function cellText(value: Plain): string {
  if (value === null) return NOTHING;
  return shown(typeof value === "object" ? JSON.stringify(value) : String(value), CELL_CHARS);
}

function csvCell(value: Plain): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function isNumbers(values: readonly Plain[]): boolean {
  return (
    values.some((value) => typeof value === "number") && values.every((value) => value === null || typeof value === "number")
  );
}

function padded(text: string, chars: number, right: boolean): string {
  const blank = " ".repeat(Math.max(0, chars - width(text)));
  return right ? blank + text : text + blank;
}

function width(text: string): number {
  return [...text].length;
}
