// What does npm run stats take, do and say? SQL over the events of a crawl, whether it runs or not.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exitCodes } from "../../pipelines/exit-codes.ts";
import { UsageError } from "../../pipelines/options.ts";
import { StoreError } from "../../pipelines/wiring.ts";
import { tableFiles } from "../../schemas/tables/event-tables.ts";
import { commonFlags, flagsOf, toldError } from "./command.ts";
import { MEMORY_MB, openStats, sqlFiles } from "./stats-database.ts";
import { type Format, print, type Write } from "./stats-print.ts";
import { ask } from "./stats-query.ts";
import { counted } from "./words.ts";

const ROWS = 40; // of a table, unless --rows says otherwise: what a screen holds

const questions = sqlFiles("questions");
const questionNames = questions.map(({ name }) => name);

const help = `SQL over what a crawl did, whether it is running or not.

  npm run stats -- "SELECT …"      [--data DIR] [--rows N] [--json|--csv]
  npm run stats -- --question NAME [--data DIR] [--rows N] [--json|--csv]
  npm run stats -- --schemas DIR   BigQuery's table schemas, written to DIR

NAME is one of ${questionNames.join(", ")}.

Tables   fetch_events, index_events, skip_events: the events as they were told
Views    attempts, documents_now, host_days, last_visits, request_gaps; hosts, statuses_by_day, politeness, freshness, duplicates,
         refusals. "DESCRIBE attempts" tells a view's columns; docs/analysts.md tells more.

The same names and views stand in BigQuery. SQL is DuckDB's, with some functions under BigQuery's names. Only a SELECT is answered: no
file but the crawl's events is read, none is written. A query may use ${MEMORY_MB} MiB.

  --data DIR   the data directory of the crawl, default ./data
  --rows N     rows to print, default ${ROWS} of a table, all of --csv and --json
  --csv        comma-separated values with a line of names
  --json       an array of objects, one a row

Exit codes: ${exitCodes.done} answered, ${exitCodes.badUsage} bad usage or SQL, ${exitCodes.brokenStore} data directory cannot be read, ${exitCodes.fault} too much memory needed, or an error of ours.
`;

const flags = {
  ...commonFlags,
  question: { type: "string" },
  rows: { type: "string" },
  csv: { type: "boolean" },
  schemas: { type: "string" },
} as const;

type Asked =
  | { kind: "help" }
  | { kind: "schemas"; folder: string }
  | { kind: "sql"; sql: string; data: string; format: Format; rowsMax: number };

/** The exit code, and what belongs on stderr. `write` is given stdout piece by piece. Never rejects. */
export async function runStats(args: readonly string[], write: Write): Promise<{ code: number; stderr: string }> {
  try {
    const asked = parsed(args);
    if (asked.kind === "help") await write(help);
    else if (asked.kind === "schemas") await write(writtenSchemas(asked.folder));
    else await answer(asked, write);
    return { code: exitCodes.done, stderr: "" };
  } catch (error) {
    const { code, stderr } = toldError("stats", error);
    return { code, stderr };
  }
}

async function answer({ sql, data, format, rowsMax }: Extract<Asked, { kind: "sql" }>, write: Write): Promise<void> {
  const database = await openStats(data);
  try {
    await print(format, { ...(await ask(database.connection, sql)), rowsMax, write });
  } finally {
    database.close();
  }
}

function writtenSchemas(folder: string): string {
  const files = Object.entries(tableFiles());
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of files) writeFileSync(join(folder, name), text);
  } catch (cause) {
    throw new StoreError(`cannot write to ${folder}: ${(cause as Error).message}`, { cause });
  }
  return `${counted(files.length, "file")} written to ${folder}: ${files.map(([name]) => name).join(", ")}\n`;
}

function parsed(args: readonly string[]): Asked {
  const { values, positionals } = flagsOf("stats", args, flags);
  if (values.help) return { kind: "help" };
  const [sql, second] = positionals;
  const asked = [sql, values.question, values.schemas].filter((each) => each !== undefined).length;
  if (asked !== 1 || second !== undefined) throw usage("one SQL in quotes, --question or --schemas is expected");
  if (values.schemas !== undefined) return { kind: "schemas", folder: values.schemas };
  if (values.csv && values.json) throw usage("--csv or --json, not both");
  const format = values.csv ? "csv" : values.json ? "json" : "table";
  const rowsMax = rowsOf(values.rows) ?? (format === "table" ? ROWS : Number.POSITIVE_INFINITY);
  return { kind: "sql", sql: sql ?? questionSql(values.question), data: values.data ?? "./data", format, rowsMax };
}

function questionSql(name: string | undefined): string {
  const question = questions.find((each) => each.name === name);
  if (question === undefined) throw usage(`--question is one of ${questionNames.join(", ")}, not '${name}'`);
  return question.sql;
}

function rowsOf(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const rows = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(rows)) throw usage(`--rows needs a whole number, not '${value}'`);
  return rows;
}

function usage(message: string): UsageError {
  return new UsageError(`${message}; npm run stats -- --help tells more`);
}
