// What does a worker of the daily pipeline need? The records of the crawl, and the files of its days.
import type { DayFiles } from "../../ports/day-files.ts";
import type { RecordTable } from "../../ports/versioned-table.ts";
import type { SegmentPlace } from "../../schemas/segment.ts";
import type { CrawlServices } from "../services.ts";

export interface DailyServices extends Pick<CrawlServices, "clock" | "random" | "log" | "metrics" | "tables" | "live"> {
  files: DayFiles;
  /** Where segments lie that were composed into larger ones. Undefined: each lies where it was written. */
  segments?: RecordTable<SegmentPlace>;
  /** Composes the small segments that were begun in an hour (0 … 23, UTC) of a day into large ones. Undefined: they are not many. */
  compactHour?(day: string, hour: number): Promise<void>;
}
