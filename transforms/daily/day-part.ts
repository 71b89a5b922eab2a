// How do rows become a file of a day's table? One part, under a name that follows from the work: whoever does it again writes the same file.
import assert from "node:assert";
import type { DayFiles } from "../../ports/day-files.ts";
import { type DayTable, tableFolder } from "../../schemas/daily/day-table.ts";
import type { PartitionFile } from "../../schemas/daily/manifest.ts";

export interface DayPart<Row> {
  /** UTC, YYYY-MM-DD. */
  day: string;
  table: DayTable<Row>;
  /** What tells it from the table's other parts: digits and small letters. */
  part: string;
  /** In an order that follows from the rows. */
  rows: Iterable<Row> | AsyncIterable<Row>;
}

/** Without rows there is no file, and the part is told with none of them: so a table of no rows is closed as well. */
export async function writeDayPart<Row>(files: DayFiles, { day, table, part, rows }: DayPart<Row>): Promise<PartitionFile> {
  const name = `${PREFIX}${part}${ENDING}`;
  const path = `${tableFolder(day, table)}/${name}`;
  const lines = linesOf(table, rows);
  const first = await lines.next();
  if (first.done) {
    await files.remove(path); // of an earlier try, for which there were some
    return { name, rows: 0, bytes: 0, sha256: "" };
  }
  const { rows: written, bytes, sha256 } = await files.writeLines(path, withFirst(first.value, lines));
  return { name, rows: written, bytes, sha256 };
}

async function* withFirst(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

const PREFIX = "part-";
const ENDING = ".ndjson.gz";

/** What tells a file from the table's other parts; undefined where it is none of them. */
export function partOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return name.startsWith(PREFIX) && name.endsWith(ENDING) ? name.slice(PREFIX.length, -ENDING.length) : undefined;
}

async function* linesOf<Row>(table: DayTable<Row>, rows: Iterable<Row> | AsyncIterable<Row>): AsyncGenerator<string> {
  for await (const row of rows) {
    const fault = table.row.fault(row, table.name);
    assert(fault === undefined, `a row that is none: ${fault}`);
    yield JSON.stringify(row);
  }
}
