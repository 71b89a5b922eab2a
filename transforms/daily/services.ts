// What does a worker of the daily pipeline need? The records of the crawl, and the files of its days.
import type { DayFiles } from "../../ports/day-files.ts";
import type { CrawlServices } from "../services.ts";

export interface DailyServices extends Pick<CrawlServices, "clock" | "random" | "log" | "metrics" | "tables" | "live"> {
  files: DayFiles;
}
