// Which stored pages are to be parsed again, and what came of each? One page, or all that were never parsed to their end; no web.
import { owesParse } from "../core/frontier/complete.ts";
import { alternateIdentity, hostKeyOf, paceKeyOfHost, urlIdentity } from "../core/url/keys.ts";
import { sleep } from "../ports/clock.ts";
import { scanPages } from "../ports/versioned-table.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import { limits } from "../schemas/limits.ts";
import { paceKeyOf, rowKey } from "../schemas/row-key.ts";
import { BUSY_WAIT_MS, type Reparsed, reparseStored, type StoredPage } from "../transforms/reparse.ts";
import type { CrawlServices } from "../transforms/services.ts";

export type ReplayTarget =
  /** A canonical URL. */
  { url: string } | "pending";

export interface ReplayReport {
  /** Records looked at. */
  records: number;
  /** Pages that were to be parsed; those below, together. */
  pages: number;
  /** Parsed, and written as a fetch would have; of them, documents that the index was given, and that it was told to drop. */
  parsed: number;
  upserts: number;
  deletes: number;
  /** Parsed, and as the record has it: nothing was written. */
  unchanged: number;
  /** Not parsed, by reason; their marks stay. */
  failed: Record<string, number>;
  /** Nothing there to parse, by reason. */
  missing: Record<string, number>;
  /** Pages of the last two kinds; at most TROUBLES_MAX. */
  troubles: { url: string; reason: string }[];
  /** Why the URL that was asked for has no page. */
  unknown?: "unknown-url" | "never-fetched";
  interrupted: boolean;
}

export interface ReplayJob {
  services: CrawlServices;
  config: CrawlConfig;
  target: ReplayTarget;
  /** No further page is begun once it says so; those under way are finished. */
  stopped?: () => boolean;
  /** Told now and then, for long work. */
  progress?: (report: ReplayReport) => void;
}

const SCANNED = 1_000; // rows of one scan
const AT_ONCE = 16; // pages that share a commit, twice as fast as 8; their bodies in memory are 16 × limits.decodedBytes at most
const TROUBLES_MAX = 1_000; // pages named in one report
const PROGRESS_MS = 5_000; // between two lines that say that it works

/** Twice the time of all pages before it, were each to take the parser's whole time. */
const TRIES = Math.ceil((2 * AT_ONCE * limits.parseMs) / BUSY_WAIT_MS);

/** Rejects with StoreError; what was written until then stands, and the marks of the rest too. */
export async function replayStored(job: ReplayJob): Promise<ReplayReport> {
  const report = emptyReport();
  if (job.target === "pending") await replayPending(job, report);
  else await replayUrl(job, job.target.url, report);
  return { ...report, interrupted: job.stopped?.() ?? false };
}

export function emptyReport(): ReplayReport {
  return {
    records: 0,
    pages: 0,
    parsed: 0,
    upserts: 0,
    deletes: 0,
    unchanged: 0,
    failed: {},
    missing: {},
    troubles: [],
    interrupted: false,
  };
}

async function replayUrl(job: ReplayJob, url: string, report: ReplayReport): Promise<void> {
  const page = await findPage(job.services, url);
  if (page !== undefined) report.records = 1;
  if (page === undefined) report.unknown = "unknown-url";
  else if (page.row.value.lastFetchAt === undefined) report.unknown = "never-fetched";
  else count(report, url, await replayPage(job, page));
}

/** The record of a canonical URL. One whose id is taken by another stands under its second one. */
export async function findPage({ tables }: Pick<CrawlServices, "tables">, url: string): Promise<StoredPage | undefined> {
  const paceKey = paceKeyOfHost(hostKeyOf(url));
  const ids = [urlIdentity(url).urlId, alternateIdentity(url).urlId];
  const rows = await tables.urls.get(ids.map((urlId) => rowKey(paceKey, urlId)));
  const at = rows.findIndex((row) => row?.value.canonicalUrl === url);
  return at < 0 ? undefined : { paceKey, urlId: ids[at]!, row: rows[at]! };
}

async function replayPending(job: ReplayJob, report: ReplayReport): Promise<void> {
  const { clock, tables } = job.services;
  let toldAt = clock.now();
  const tell = (): void => {
    if (clock.now() - toldAt < PROGRESS_MS) return;
    toldAt = clock.now();
    job.progress?.(report);
  };
  for await (const rows of scanPages(tables.urls, { from: "", to: "\u{10ffff}", limit: SCANNED })) {
    if (job.stopped?.()) return;
    const owed = rows.filter(({ value }) => owesParse(value));
    report.records += rows.length;
    await severalAtOnce(owed, async ({ key, ...row }) => {
      if (job.stopped?.()) return;
      const paceKey = paceKeyOf(key);
      const page = { paceKey, urlId: key.slice(rowKey(paceKey).length), row };
      count(report, row.value.canonicalUrl, await replayPage(job, page));
      tell();
    });
    tell();
  }
}

/** Runs `work` for each item, AT_ONCE side by side; begins no more after one has failed, and rejects with the first fault. */
async function severalAtOnce<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values(); // one row of items for all
  const faults: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (const item of left) {
      if (faults.length > 0) return;
      await work(item).catch((error) => faults.push(error));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  if (faults.length > 0) throw faults[0];
}

async function replayPage({ services, config, stopped }: ReplayJob, page: StoredPage): Promise<Reparsed> {
  const { clock, tables } = services;
  let { row } = page;
  for (let tries = 1; ; tries++) {
    const done = await reparseStored(services, config, { ...page, row });
    if ((done.kind !== "busy" && done.kind !== "moved") || tries === TRIES || stopped?.()) return done;
    if (done.kind === "busy") await sleep(clock, BUSY_WAIT_MS);
    const [found] = await tables.urls.get([rowKey(page.paceKey, page.urlId)]);
    if (found === undefined) return done;
    row = found;
  }
}

function count(report: ReplayReport, url: string, done: Reparsed): void {
  report.pages++;
  if (done.kind === "unchanged") report.unchanged++;
  else if (done.kind === "parsed") {
    report.parsed++;
    if (done.index === "upsert") report.upserts++;
    if (done.index === "delete") report.deletes++;
  } else {
    const reason = "reason" in done ? done.reason : done.kind;
    const reasons = done.kind === "missing" ? report.missing : report.failed;
    reasons[reason] = (reasons[reason] ?? 0) + 1;
    if (report.troubles.length < TROUBLES_MAX) report.troubles.push({ url, reason });
  }
}
