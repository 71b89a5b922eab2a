// Which tables do analysts have, and how do events get into them? All that Terraform needs, from the shapes of the events.
import { type EventKind, eventShapes } from "../events.ts";
import { type Column, columnsOf } from "./columns.ts";
import { eventWords } from "./words.ts";

export interface EventTable {
  /** In BigQuery, and at home in DuckDB. */
  name: string;
  kind: EventKind;
  description: string;
  /** A day of arrival (UTC) is a partition; `_PARTITIONDATE` names it. */
  partition: { type: "DAY"; by: "ingestion" };
  /** Columns that rows of a partition are sorted by. */
  clustering: string[];
  columns: Column[];
}

const partition = { type: "DAY", by: "ingestion" } as const; // docs/decisions/2026-11-30-event-tables.md

export const eventTables: readonly EventTable[] = [
  {
    name: "fetch_events",
    kind: "fetch",
    description: "One row for each attempt at a URL, whether it was answered or not; at least once.",
    partition,
    clustering: ["hostKey"],
    columns: columnsOf(eventShapes.fetch.shape, eventWords.fetch),
  },
  {
    name: "index_events",
    kind: "index",
    description: "One row for each new version of a document, or its end; at least once, (urlId, docVersion) is the key.",
    partition,
    clustering: ["urlId"], // it has no hostKey, and is asked for the newest of a URL
    columns: columnsOf(eventShapes.index.shape, eventWords.index),
  },
  {
    name: "skip_events",
    kind: "skip",
    description: "Refusals before a lease, counted by host, reason and source, with samples.",
    partition,
    clustering: ["hostKey"],
    columns: columnsOf(eventShapes.skip.shape, eventWords.skip),
  },
];

/**
 * How a message's line of JSON becomes a row: by the table's own columns, with nothing in between. An unknown field is an error and
 * not dropped: the message stays in the subscription's backlog until the table has the column, or goes to the dead-letter topic.
 */
const subscription = {
  useTableSchema: true,
  useTopicSchema: false,
  writeMetadata: false,
  dropUnknownFields: false,
} as const;

/** schemas/tables/*.json by file name, as they are committed: the columns of each table, and tables.json about all of them. */
export function tableFiles(): Record<string, string> {
  const about = eventTables.map(({ columns: _, ...table }) => ({ ...table, schema: schemaFile(table.kind) }));
  return {
    ...Object.fromEntries(eventTables.map(({ kind, columns }) => [schemaFile(kind), jsonFile(columns)])),
    "tables.json": jsonFile({ subscription, tables: about }),
  };
}

function schemaFile(kind: EventKind): string {
  return `${kind}-events.json`;
}

/** As Biome formats it: lists of short words stand in one line. */
function jsonFile(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  return `${text.replaceAll(/\[\s+("[^"]*"(?:,\s+"[^"]*")*)\s+\]/g, (_, words: string) => `[${words.replaceAll(/\s+/g, " ")}]`)}\n`;
}
