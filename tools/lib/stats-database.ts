// Which tables does npm run stats answer from? Event files under BigQuery's names, the analysts' views over them, and nothing else.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { hasCrawl, StoreError } from "../../pipelines/wiring.ts";
import type { Column } from "../../schemas/tables/columns.ts";
import { duckdbColumns, duckdbType, identifier, quoted } from "../../schemas/tables/duckdb-columns.ts";
import { type EventTable, eventTables } from "../../schemas/tables/event-tables.ts";

/** Of the whole query, sorting and grouping spill beyond it: a million fetch events need a fraction. */
export const MEMORY_MB = 1024;
/** A crawl may be running on the same machine. */
const THREADS = 2;
/** What may be spilled to the system's folder for temporary files. */
const SPILL_MB = 8 * 1024;

/** Of BigQuery's dataset; at home the schema in which all tables stand. */
const DATASET = "gleaner";
const QUERIES = join(import.meta.dirname, "../queries");

export interface StatsDatabase {
  connection: DuckDBConnection;
  close(): void;
}

/** A database in memory that reads the folder's event files and no others. Rejects with StoreError where there are none to be. */
export async function openStats(data: string): Promise<StatsDatabase> {
  const events = join(resolve(data), "events");
  if (!existsSync(events) && !hasCrawl(data)) throw new StoreError(`${data} holds no crawl: check the name of the folder`);
  const { DuckDBInstance } = await import("@duckdb/node-api"); // 60 MB that --help does not need
  const spill = spillFolder();
  const instance = await DuckDBInstance.create(":memory:", {
    memory_limit: `${MEMORY_MB}MiB`,
    threads: String(THREADS),
    temp_directory: spill.folder,
    max_temp_directory_size: `${SPILL_MB}MiB`,
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
  });
  const connection = await instance.connect();
  const close = (): void => {
    connection.closeSync();
    instance.closeSync();
    spill.remove();
  };
  try {
    const files = Object.fromEntries(eventTables.map(({ kind }) => [kind, partsOf(join(events, kind))]));
    await connection.run(setUp(files));
    return { connection, close };
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * Gone when it is removed, when the process ends, and at a signal, which then ends the process as ever: process.exit() would wait for
 * the query.
 */
function spillFolder(): { folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-stats-"));
  const remove = (): void => {
    process.off("exit", remove);
    for (const signal of SIGNALS) process.off(signal, onSignal);
    rmSync(folder, { recursive: true, force: true });
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    remove();
    process.kill(process.pid, signal);
  };
  process.on("exit", remove);
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return { folder, remove };
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** The parts that stand now, closed or still written to: part-….ndjson below dt=YYYY-MM-DD. */
function partsOf(folder: string): string[] {
  return listed(folder, /^dt=\d{4}-\d\d-\d\d$/).flatMap((day) => listed(day, /^part-.*\.ndjson$/));
}

function listed(folder: string, wanted: RegExp): string[] {
  try {
    const names = readdirSync(folder).filter((name) => wanted.test(name));
    return names.sort().map((name) => join(folder, name));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw new StoreError(`cannot read ${folder}`, { cause });
  }
}

function setUp(files: Readonly<Record<string, readonly string[]>>): string {
  return [
    `CREATE SCHEMA ${DATASET}`,
    `SET schema = '${DATASET}'`,
    "SET TimeZone = 'UTC'",
    "SET default_null_order = 'nulls_first_on_asc_last_on_desc'", // BigQuery's
    readFileSync(join(QUERIES, "duckdb/macros.sql"), "utf8").trim().replace(/;$/, ""),
    ...eventTables.map((table) => `CREATE VIEW ${table.name} AS ${tableQuery(table, files[table.kind] ?? [])}`),
    ...sqlFiles("base").map(viewOf),
    ...sqlFiles("views").map(viewOf),
    ...locks(Object.values(files).flat()),
  ].join(";\n");
}

/** No other file is read, none is written (see oneQuestion of stats-query.ts for those that may be read), no setting is changed. */
function locks(files: readonly string[]): string[] {
  return [
    "SET errors_as_json = true",
    `SET allowed_paths = [${files.map(quoted).join(", ")}]`,
    "SET enable_external_access = false",
    "SET lock_configuration = true",
  ];
}

/** `_PARTITIONDATE`, by which BigQuery skips whole days, is the day folder here, by which DuckDB skips whole files. */
function tableQuery({ columns }: EventTable, files: readonly string[]): string {
  const names = columns.map(({ name }) => `line.${identifier(name)}`).join(", ");
  if (files.length === 0) return `SELECT ${columns.map(absent).join(", ")}, CAST(NULL AS DATE) AS _PARTITIONDATE WHERE false`;
  const options = `columns = ${duckdbColumns(columns)}, format = 'newline_delimited', ignore_errors = true`;
  const days = "hive_partitioning = true, hive_types = {'dt': 'DATE'}";
  const lines = `read_json([${files.map(quoted).join(", ")}], ${options}, ${days})`;
  // A line that a running crawl has written half of reads as a row of nulls; `at` stands in every whole one.
  return `SELECT ${names}, line.dt AS _PARTITIONDATE FROM ${lines} AS line WHERE line."at" IS NOT NULL`;
}

function absent(column: Column): string {
  return `CAST(NULL AS ${duckdbType(column)}) AS ${identifier(column.name)}`;
}

interface SqlFile {
  name: string;
  sql: string;
}

/** The queries of a folder of tools/queries/, named as BigQuery's views are: documents_now for documents-now.sql. */
export function sqlFiles(folder: "base" | "views" | "questions"): SqlFile[] {
  return listed(join(QUERIES, folder), /\.sql$/).map((path) => ({
    name: path.replace(/^.*[\\/]|\.sql$/g, "").replaceAll("-", "_"),
    sql: readFileSync(path, "utf8"),
  }));
}

function viewOf({ name, sql }: SqlFile): string {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: Terraform puts the project's dataset there
  return `CREATE VIEW ${name} AS ${sql.replaceAll("${dataset}", DATASET)}`;
}
