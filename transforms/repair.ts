// Repair: URL records and the due index are brought back together. Run at each start of the embedded engine, and by the daily pipeline.
import { scanPages, type Versioned } from "../ports/versioned-table.ts";
import { type DueEntry, dueKey, paceKeyOf, parseDueKey, type RowKey, rowKey } from "../schemas/row-key.ts";
import type { Marks, UrlState } from "../schemas/url-state.ts";
import { dropDue, lowerHostDue, putDue } from "./due-index.ts";
import { finishMarks } from "./fetch/complete.ts";
import { patiently } from "./patience.ts";
import type { CrawlServices } from "./services.ts";

export interface RepairReport {
  urls: number;
  /** URLs of pages that were asked for at least once. */
  pagesAsked: number;
  marksFinished: number;
  dueAdded: number;
  dueDropped: number;
}

const PAGE = 1_000; // rows of one scan
const ALL = { from: "", to: "\u{10ffff}", limit: PAGE };

export interface RepairOptions {
  services: CrawlServices;
  sweepShards: number;
  progress?: (report: RepairReport) => void;
}

export async function repair({ services, sweepShards, progress }: RepairOptions): Promise<RepairReport> {
  const report: RepairReport = { urls: 0, pagesAsked: 0, marksFinished: 0, dueAdded: 0, dueDropped: 0 };
  await repairUrls(services, sweepShards, report, progress);
  await repairDue(services, report);
  return report;
}

type UrlRow = Versioned<UrlState> & { key: RowKey };

/** Every record's marks are finished and its due entry stands, its host known to the sweep. */
async function repairUrls(
  services: CrawlServices,
  shards: number,
  report: RepairReport,
  progress?: (report: RepairReport) => void,
) {
  for await (const rows of scanPages(patientScans(services, services.tables.urls), ALL)) {
    const { marksFinished, dueAdded } = await patiently(services, () => repairPage(services, shards, rows));
    report.urls += rows.length;
    report.pagesAsked += rows.filter(({ value }) => value.lastFetchAt !== undefined && value.kind === "page").length;
    report.marksFinished += marksFinished;
    report.dueAdded += dueAdded;
    if (rows.length === PAGE) progress?.(report);
  }
}

/** A store that refuses one of very many calls must not keep a crawl from starting, so each page may be done twice. */
async function repairPage(services: CrawlServices, shards: number, rows: readonly UrlRow[]) {
  const entries: DueEntry[] = [];
  let marksFinished = 0;
  for (const { key, rev, value } of rows) {
    const paceKey = paceKeyOf(key);
    const urlId = key.slice(rowKey(paceKey).length);
    if (value.marks !== undefined && !onlyWaits(value.marks)) {
      await finishMarks(services, paceKey, urlId, { rev, value });
      marksFinished++;
    }
    entries.push({ paceKey, urlId, priority: value.priority, dueAt: value.nextFetchAt });
  }
  const standing = await services.tables.due.get(entries.map(dueKey));
  const missing = entries.filter((_, index) => standing[index] === undefined);
  await putDue(services, missing);
  await lowerHosts(services, shards, entries);
  return { marksFinished, dueAdded: missing.length };
}

function patientScans<R>(services: CrawlServices, table: { scan(range: typeof ALL): Promise<R[]> }) {
  return { scan: (range: typeof ALL) => patiently(services, () => table.scan(range)) };
}

/** A page that could not be parsed waits for a replay; there is nothing to finish. */
function onlyWaits({ dueFrom, index, reparse }: Marks): boolean {
  return dueFrom === undefined && index === undefined && !reparse;
}

async function lowerHosts({ tables }: CrawlServices, shards: number, entries: readonly DueEntry[]): Promise<void> {
  const earliest = new Map<string, number>();
  for (const { paceKey, dueAt } of entries)
    earliest.set(paceKey, Math.min(earliest.get(paceKey) ?? Number.MAX_SAFE_INTEGER, dueAt));
  await Promise.all([...earliest].map(([paceKey, dueAt]) => lowerHostDue(tables.hostDue, paceKey, shards, dueAt)));
}

/** Entries behind which no record stands, or one that says otherwise, go. */
async function repairDue(services: CrawlServices, report: RepairReport): Promise<void> {
  for await (const rows of scanPages(patientScans(services, services.tables.due), ALL))
    report.dueDropped += await patiently(services, () => dropStale(services, rows));
}

async function dropStale(services: CrawlServices, rows: readonly { key: RowKey }[]): Promise<number> {
  const entries = rows.map((row) => parseDueKey(row.key));
  const records = await services.tables.urls.get(entries.map(({ paceKey, urlId }) => rowKey(paceKey, urlId)));
  const stale = rows.filter((_, index) => {
    const record = records[index]?.value;
    const entry = entries[index]!;
    return record === undefined || record.nextFetchAt !== entry.dueAt || record.priority !== entry.priority;
  });
  await dropDue(
    services,
    stale.map((row) => row.key),
  );
  return stale.length;
}
