// Repair: URL records and the due index are brought back together. Run at each start of the embedded engine, and by the daily pipeline.
import { scanPages, type Versioned } from "../ports/versioned-table.ts";
import {
  afterPrefix,
  type DueEntry,
  dueKey,
  hostDueKey,
  paceKeyOf,
  parseDueKey,
  type RowKey,
  rowKey,
} from "../schemas/row-key.ts";
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

export interface RepairOptions {
  services: CrawlServices;
  sweepShards: number;
  progress?: (report: RepairReport) => void;
}

const PAGE = 1_000; // rows of one scan
const LAST = "\u{10ffff}";
const HOSTS_MAX = 10_000; // that are remembered at a time, some 200 B each

/**
 * Every record's marks are finished and its due entry stands, its host known to the sweep, and no other entry stands. Both tables are read
 * once, in their order: what they say of a host is summed up and compared, and only a host of which they differ is gone through row by row.
 * A store that refuses one of very many calls must not keep a crawl from starting, so each step is tried again by itself.
 */
export async function repair({ services, sweepShards, progress }: RepairOptions): Promise<RepairReport> {
  const report: RepairReport = { urls: 0, pagesAsked: 0, marksFinished: 0, dueAdded: 0, dueDropped: 0 };
  const work: Work = { services, sweepShards, report };
  let from = "";
  let hosts = new Map<string, HostSum>();
  for await (const rows of scanPages(patientScans(work, services.tables.urls), { from, to: LAST, limit: PAGE })) {
    for (const row of rows) {
      const paceKey = paceKeyOf(row.key);
      if (hosts.size === HOSTS_MAX && !hosts.has(paceKey)) {
        await compare(work, hosts, { from, to: rowKey(paceKey) });
        from = rowKey(paceKey);
        hosts = new Map();
      }
      if (row.value.marks !== undefined && !onlyWaits(row.value.marks)) await finish(work, row);
      takeRow(report, sumOf(hosts, paceKey), row);
    }
    if (rows.length === PAGE) progress?.(report);
  }
  await compare(work, hosts, { from, to: LAST });
  return report;
}

interface Work {
  services: CrawlServices;
  sweepShards: number;
  report: RepairReport;
}

type UrlRow = Versioned<UrlState> & { key: RowKey };

/** What a host's records say of the due index. */
interface HostSum {
  /** Of the entries that should stand. */
  wanted: KeySum;
  /** Of those that do. */
  standing: KeySum;
  /** Unix ms; undefined: it has no records. */
  earliest?: number;
}

async function finish({ services, report }: Work, { key, rev, value }: UrlRow): Promise<void> {
  const paceKey = paceKeyOf(key);
  await patiently(services, () => finishMarks(services, paceKey, idIn(key, paceKey), { rev, value }));
  report.marksFinished++;
}

/** A page that could not be parsed waits for a replay; there is nothing to finish. */
function onlyWaits({ dueFrom, index, reparse }: Marks): boolean {
  return dueFrom === undefined && index === undefined && !reparse;
}

function takeRow(report: RepairReport, host: HostSum, { key, value }: UrlRow): void {
  report.urls++;
  if (value.lastFetchAt !== undefined && value.kind === "page") report.pagesAsked++;
  addKey(host.wanted, entryKey(key, value));
  host.earliest = Math.min(host.earliest ?? value.nextFetchAt, value.nextFetchAt);
}

interface Range {
  from: RowKey;
  to: RowKey;
}

/** `hosts`: all that have records in the range. */
async function compare(work: Work, hosts: Map<string, HostSum>, range: Range): Promise<void> {
  const { services } = work;
  for await (const rows of scanPages(patientScans(work, services.tables.due), { ...range, limit: PAGE }))
    for (const { key } of rows) addKey(sumOf(hosts, paceKeyOf(key)).standing, key);
  for (const [paceKey, { wanted, standing }] of hosts) if (differ(wanted, standing)) await repairHost(work, paceKey);
  await lowerHosts(work, hosts);
}

function sumOf(hosts: Map<string, HostSum>, paceKey: string): HostSum {
  let host = hosts.get(paceKey);
  if (host === undefined) {
    host = { wanted: noKeys(), standing: noKeys() };
    hosts.set(paceKey, host);
  }
  return host;
}

/** Entries that are missing are put, and those behind which no record stands, or one that says otherwise, go. */
async function repairHost(work: Work, paceKey: string): Promise<void> {
  const { services, report } = work;
  const { urls, due } = services.tables;
  const range = { from: rowKey(paceKey), to: afterPrefix(rowKey(paceKey)), limit: PAGE };
  for await (const rows of scanPages(patientScans(work, urls), range))
    report.dueAdded += await patiently(services, () => addMissing(services, rows));
  for await (const rows of scanPages(patientScans(work, due), range))
    report.dueDropped += await patiently(services, () => dropStale(services, rows));
}

async function addMissing(services: CrawlServices, rows: readonly UrlRow[]): Promise<number> {
  const wanted = rows.map(({ key, value }) => entryKey(key, value));
  const standing = await services.tables.due.get(wanted);
  const missing = wanted.filter((_, index) => standing[index] === undefined);
  await putDue(services, missing.map(parseDueKey));
  return missing.length;
}

async function dropStale(services: CrawlServices, rows: readonly { key: RowKey }[]): Promise<number> {
  const entries = rows.map(({ key }) => parseDueKey(key));
  const records = await services.tables.urls.get(entries.map(({ paceKey, urlId }) => rowKey(paceKey, urlId)));
  const stale = rows.flatMap(({ key }, index) => (standsBehind(records[index]?.value, entries[index]!) ? [] : [key]));
  await dropDue(services, stale);
  return stale.length;
}

/** The entry that a completion is about to replace leads others to its marks, should it not come to its end. */
export function standsBehind(record: UrlState | undefined, { priority, dueAt }: DueEntry): boolean {
  if (record === undefined) return false;
  const { dueFrom } = record.marks ?? {};
  const isOf = (of: { priority: number; dueAt: number }) => of.priority === priority && of.dueAt === dueAt;
  return isOf({ priority: record.priority, dueAt: record.nextFetchAt }) || (dueFrom !== undefined && isOf(dueFrom));
}

async function lowerHosts({ services, sweepShards }: Work, hosts: ReadonlyMap<string, HostSum>): Promise<void> {
  const { hostDue } = services.tables;
  const known = [...hosts].flatMap(([paceKey, { earliest }]) => (earliest === undefined ? [] : [{ paceKey, earliest }]));
  for (let at = 0; at < known.length; at += PAGE) {
    const some = known.slice(at, at + PAGE);
    const rows = await patiently(services, () => hostDue.get(some.map(({ paceKey }) => hostDueKey(paceKey, sweepShards))));
    const late = some.filter(({ earliest }, index) => (rows[index]?.value.nextDueAt ?? Number.POSITIVE_INFINITY) > earliest);
    for (const { paceKey, earliest } of late)
      await patiently(services, () => lowerHostDue(hostDue, paceKey, sweepShards, earliest));
  }
}

function patientScans<R>({ services }: Work, table: { scan(range: Range & { limit: number }): Promise<R[]> }) {
  return { scan: (range: Range & { limit: number }) => patiently(services, () => table.scan(range)) };
}

function idIn(key: RowKey, paceKey: string): string {
  return key.slice(rowKey(paceKey).length);
}

/** The key of the one due entry that belongs to the record. */
export function entryKey(key: RowKey, { priority, nextFetchAt }: UrlState): RowKey {
  const paceKey = paceKeyOf(key);
  return dueKey({ paceKey, urlId: idIn(key, paceKey), priority, dueAt: nextFetchAt });
}

/** A set of keys in 64 bits, in whatever order they came: equal sets have equal sums, and others but by a chance of 2^-64. */
interface KeySum {
  high: number;
  low: number;
}

function noKeys(): KeySum {
  return { high: 0, low: 0 };
}

function differ(one: KeySum, other: KeySum): boolean {
  return one.high !== other.high || one.low !== other.low;
}

/** Two hashes of 32 bits each, FNV-1a with other primes, and MurmurHash3's last mix. */
function addKey(sum: KeySum, key: RowKey): void {
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let at = 0; at < key.length; at++) {
    const code = key.charCodeAt(at);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x5bd1e995) ^ (low >>> 13);
  }
  sum.high = (sum.high + mixed(high)) | 0;
  sum.low = (sum.low + mixed(low)) | 0;
}

function mixed(bits: number): number {
  const half = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return whole ^ (whole >>> 16);
}
