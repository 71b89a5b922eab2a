// The statistics of a day as a graph: events counted once each, by host, by status, by refusal and over all; gaps and traps from the records.
import {
  crawlStatistics,
  hostStatistics,
  refusalStatistics,
  statusStatistics,
  trapStatistics,
} from "../../schemas/daily/statistics.ts";
import { closeTables } from "../../transforms/daily/close-table.ts";
import { allKeyRanges } from "../../transforms/daily/key-ranges.ts";
import { openTables } from "../../transforms/daily/open-tables.ts";
import {
  countDocument,
  countDuplicates,
  countFetch,
  countRefusals,
  dayGaps,
} from "../../transforms/daily/statistics/count-events.ts";
import { eventFiles, readEvents } from "../../transforms/daily/statistics/read-events.ts";
import { readGaps, writeTraps } from "../../transforms/daily/statistics/read-records.ts";
import {
  crawlRows,
  hostRows,
  refusalRows,
  statusRows,
  writeCrawl,
  writeHosts,
  writeRefusals,
  writeStatuses,
} from "../../transforms/daily/statistics/rows.ts";
import { sumCopies, sumCrawl, sumHost, sumRefusal, sumStatus } from "../../transforms/daily/statistics/sums.ts";
import { type DailyPhase, foldersOf } from "./phase.ts";

const tables = [hostStatistics, statusStatistics, refusalStatistics, trapStatistics, crawlStatistics];
const openStatistics = openTables("dailyOpenStatistics", tables);
const closeStatistics = closeTables("dailyCloseStatistics", tables);

export const statisticsPhase: DailyPhase = {
  name: "statistics",
  doing: "counting the day's events",
  folders: foldersOf(tables),
  build(p, config) {
    const { files } = p.start("EventFiles", eventFiles, config);
    const events = p.each("ReadEvents", readEvents, {}, p.reshuffle("SpreadFiles", files));
    const fetches = p.grouped("CountFetch", countFetch, {}, events.fetches);
    const dayGap = p.grouped("DayGaps", dayGaps, {}, fetches.requests);
    const documents = p.grouped("CountDocument", countDocument, {}, events.documents);
    const copies = p.each("CountDuplicates", countDuplicates, {}, p.combined("SumCopies", sumCopies, fetches.bodies));

    const ranges = p.reshuffle("SpreadRanges", p.start("KeyRanges", allKeyRanges, {}).ranges);
    const gaps = p.each("ReadGaps", readGaps, {}, ranges);
    const traps = p.each("WriteTraps", writeTraps, config, ranges);

    const hosts = p.each(
      "HostRows",
      hostRows,
      {},
      p.combined("SumHost", sumHost, p.flatten("Hosts", fetches.hosts, dayGap.hosts, gaps.hosts)),
    );
    const statuses = p.each("StatusRows", statusRows, {}, p.combined("SumStatus", sumStatus, fetches.statuses));
    const refused = p.each("CountRefusals", countRefusals, {}, events.refusals);
    const refusals = p.each("RefusalRows", refusalRows, {}, p.combined("SumRefusal", sumRefusal, refused.refusals));
    const counted = p.flatten("CrawlCounts", events.crawl, fetches.crawl, documents.crawl, copies.crawl, hosts.crawl);
    const crawl = p.each("CrawlRows", crawlRows, {}, p.combined("SumCrawl", sumCrawl, counted));

    const parts = p.flatten(
      "StatisticsParts",
      p.start("OpenStatistics", openStatistics, {}).parts,
      traps.parts,
      p.grouped("WriteHosts", writeHosts, config, hosts.rows).parts,
      p.grouped("WriteStatuses", writeStatuses, config, statuses.rows).parts,
      p.grouped("WriteRefusals", writeRefusals, config, refusals.rows).parts,
      p.grouped("WriteCrawl", writeCrawl, config, crawl.rows).parts,
    );
    p.grouped("CloseStatistics", closeStatistics, config, parts);
  },
  definitions: [
    ...[eventFiles, readEvents, countFetch, countDocument, countRefusals, countDuplicates, dayGaps, sumCopies],
    ...[allKeyRanges, readGaps, writeTraps, sumHost, sumStatus, sumRefusal, sumCrawl],
    ...[hostRows, statusRows, refusalRows, crawlRows, writeHosts, writeStatuses, writeRefusals, writeCrawl],
    ...[openStatistics, closeStatistics],
  ],
};
