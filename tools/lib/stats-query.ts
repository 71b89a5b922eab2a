// What does a line of SQL answer? One SELECT, row by row, or one line that says what is wrong with it and where.
import type { DuckDBConnection, DuckDBPreparedStatement, DuckDBResult, DuckDBValue } from "@duckdb/node-api";
import { UsageError } from "../../pipelines/options.ts";
import { StoreError } from "../../pipelines/wiring.ts";
import { MEMORY_MB } from "./stats-database.ts";

export interface Answer {
  /** Two columns of one name are told apart. */
  columns: string[];
  /** Some thousand rows at a time. Rejects as `ask` does. */
  rows: AsyncIterable<DuckDBValue[][]>;
}

/** Rejects with UsageError where the SQL is wrong or asks for more than reading, with StoreError where a file cannot be read. */
export async function ask(connection: DuckDBConnection, sql: string): Promise<Answer> {
  try {
    const result = await (await oneQuestion(connection, sql)).stream();
    return { columns: result.deduplicatedColumnNames(), rows: rowsOf(result, sql) };
  } catch (error) {
    throw told(error, sql);
  }
}

async function* rowsOf(result: DuckDBResult, sql: string): AsyncGenerator<DuckDBValue[][]> {
  try {
    yield* result.yieldRows();
  } catch (error) {
    throw told(error, sql);
  }
}

const SELECT = 1; // StatementType.SELECT, which also holds DESCRIBE, SHOW, SUMMARIZE, FROM and VALUES

/**
 * Nothing is run but what only reads: the files that DuckDB may read it could also write, by COPY or EXPLAIN ANALYZE COPY, and no
 * setting tells the two apart.
 */
async function oneQuestion(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
  const statements = /\S/.test(sql) ? await connection.extractStatements(sql) : undefined;
  if (statements?.count !== 1) throw new UsageError(`one SELECT is expected, not ${statements?.count ?? 0} statements`);
  const prepared = await statements.prepare(0);
  if (Number(prepared.statementType) !== SELECT)
    throw new UsageError("only a SELECT is answered: the events are not changed here");
  return prepared;
}

interface Fault {
  exception_type: string;
  exception_message: string;
  /** Bytes before the place in the SQL. */
  position?: string;
}

function told(error: unknown, sql: string): unknown {
  if (error instanceof UsageError) return error;
  const fault = faultOf(String((error as Error).message));
  if (fault === undefined) return new UsageError(`no SQL in ${JSON.stringify(sql.slice(0, 80))}`);
  const { exception_type: type, exception_message: message, position } = fault;
  if (type === "Out of Memory")
    return new Error(
      `the query needs more than ${MEMORY_MB} MiB: ask of fewer days or columns, or without a window or DISTINCT`,
    );
  if (type === "IO") return new StoreError(message, { cause: error });
  const where = position === undefined ? "" : ` (${placeOf(sql, Number(position))})`;
  return new UsageError(`${type}: ${message}${where}`);
}

/** DuckDB's message is an object of JSON, at times behind some words. */
function faultOf(message: string): Fault | undefined {
  try {
    return JSON.parse(message.slice(message.indexOf("{"))) as Fault;
  } catch {
    return undefined;
  }
}

function placeOf(sql: string, bytes: number): string {
  const before = Buffer.from(sql).subarray(0, bytes).toString().split("\n");
  return `line ${before.length}, column ${[...(before.at(-1) ?? "")].length + 1}`;
}
