// What is one part of the daily pipeline? A bounded graph of its own, done for a day once the manifests of its tables stand.
import type { AnyCombineDefinition } from "../../beam/combine.ts";
import type { AnyDefinition } from "../../beam/pardo.ts";
import type { BatchBuilder } from "../../beam/pipeline.ts";
import { type AnyDayTable, tableFolder } from "../../schemas/daily/day-table.ts";

/** JSON: it travels in the proto. */
export interface DailyConfig {
  /** UTC, YYYY-MM-DD: whose events and pages are read. */
  day: string;
  /** Unix ms at which the day ended: the time by which all is judged, so that a second run comes to the same. */
  asOf: number;
  /** Of the whole crawl; absent: hosts alone bound them. */
  revisitsPerDay?: number;
  /** About how many documents there are: what the day before had. */
  documentsExpected?: number;
  /** How large a file of documents is that is joined of small ones; default JOINED_BYTES. */
  joinedBytes?: number;
}

export interface DailyPhase {
  name: string;
  /** For people who watch: what is done. */
  doing: string;
  /** Where a manifest stands for each thing that it makes, once it is done. */
  folders(day: string): string[];
  build(pipeline: BatchBuilder, config: DailyConfig): void;
  /** Every DoFn and combining of the graph, by which a worker finds them. */
  definitions: readonly (AnyDefinition | AnyCombineDefinition)[];
}

/** Of a phase that makes tables of the day. */
export function foldersOf(tables: readonly AnyDayTable[]): DailyPhase["folders"] {
  return (day) => tables.map((table) => tableFolder(day, table));
}
