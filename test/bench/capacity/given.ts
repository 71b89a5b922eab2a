// What do the capacity measurements share? Hosts and URLs by number, the tables of a crawl in memory, and how figures are printed.
import { newHost } from "../../../core/politeness/host-clock.ts";
import { hostKeyOf, paceKeyOfHost, urlIdentity } from "../../../core/url/keys.ts";
import { memoryTable } from "../../../io/stores/memory-table.ts";
import { type RawTables, tableNames } from "../../../pipelines/worker.ts";
import type { VersionedTable } from "../../../ports/versioned-table.ts";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import { limits } from "../../../schemas/limits.ts";
import type { RobotsState } from "../../../schemas/robots-state.ts";
import { priorities, type UrlState } from "../../../schemas/url-state.ts";

export const START = Date.UTC(2026, 0, 1);
export const URL_BYTES = 80; // the mean of the issue

export function paceKeyOfNumber(host: number): string {
  return `www.site-${host}.test`;
}

/** 80 bytes; the numbers can be read back. */
export function urlOfNumber(host: number, url: number): string {
  return `https://${paceKeyOfNumber(host)}/articles/${url}/`.padEnd(URL_BYTES, "abcdefghijklmnopqrstuvwxyz-");
}

export function numbersOfUrl(url: string): { host: number; url: number } {
  const found = /site-(\d+)\.test\/articles\/(\d+)\//.exec(url);
  return { host: Number(found?.[1]), url: Number(found?.[2]) };
}

export function recordOf(url: string, more: Partial<UrlState> = {}): UrlState {
  return {
    canonicalUrl: url,
    kind: "page",
    version: 0,
    docVersion: 0,
    depth: 3,
    hops: 0,
    priority: priorities.discovery,
    discoveredAt: START,
    nextFetchAt: START,
    failureCount: 0,
    ...more,
  };
}

export function namesOf(url: string): { urlId: string; hostKey: string; paceKey: string } {
  const hostKey = hostKeyOf(url);
  return { urlId: urlIdentity(url).urlId, hostKey, paceKey: paceKeyOfHost(hostKey) };
}

/** Every other host has rules, of the size that a stock content system serves; the others have none. */
export function robotsOfNumber(host: number): RobotsState {
  const known = { fetchedAt: START, expiresAt: START + 365 * 86_400_000 };
  if (host % 2 === 1) return { ...known, status: "allow-all", httpStatus: 404 };
  return { ...known, status: "rules", httpStatus: 200, body: STOCK_RULES };
}

const STOCK_RULES = Buffer.from(
  "User-agent: *\nDisallow: /admin/\nAllow: /admin/ajax\nSitemap: https://www.site.test/sitemap.xml\n",
);

/** A host that has been asked before, as far as its clock tells. */
export function hostOfNumber(at: number) {
  return { ...newHost(1), lastSendAt: at, lastAnsweredAt: at, lastEndAt: at, latencyMs: 0, pages: 1 };
}

export function configOf(delayMs: number): CrawlConfig {
  return {
    userAgent: "Gleaner/bench",
    productToken: "Gleaner",
    scope: { mode: "any", hosts: [], domains: [], rules: [] },
    sitemaps: false,
    depthMax: limits.depthMax,
    pagesPerHost: Number.MAX_SAFE_INTEGER,
    delayMs,
    hostConcurrency: 1,
    requestMs: limits.requestMs,
    acceptTypes: [],
    documents: false,
    policies: [{ host: "*.test", delayMs }],
    policyVersion: 1,
    epoch: 1,
    sweepShards: limits.sweepShards,
    clockSkewMs: 0,
  };
}

/** Calls and rows, by `table.operation`. */
export type Calls = Map<string, { calls: number; rows: number }>;

export function memoryTables(): RawTables {
  return Object.fromEntries(tableNames.map((name) => [name, memoryTable()])) as RawTables;
}

/** The same table; each call and the rows that it names or gives are counted. */
export function counted(table: VersionedTable, name: string, into: Calls | (() => Calls)): VersionedTable {
  const count = (operation: string, rows: number): void => {
    const calls = typeof into === "function" ? into() : into;
    const known = calls.get(`${name}.${operation}`);
    if (known === undefined) calls.set(`${name}.${operation}`, { calls: 1, rows });
    else {
      known.calls++;
      known.rows += rows;
    }
  };
  return {
    get(keys) {
      count("get", keys.length);
      return table.get(keys);
    },
    insertIfAbsent(rows) {
      count("insert", rows.length);
      return table.insertIfAbsent(rows);
    },
    compareAndSet(row, expectedRev) {
      count("compareAndSet", 1);
      return table.compareAndSet(row, expectedRev);
    },
    async scan(range) {
      const rows = await table.scan(range);
      count("scan", rows.length);
      return rows;
    },
    delete(rows) {
      count("delete", rows.length);
      return table.delete(rows);
    },
    put(rows) {
      count("put", rows.length);
      return table.put(rows);
    },
    drop(keys) {
      count("drop", keys.length);
      return table.drop(keys);
    },
  };
}

/** A table of figures: the first column is text, the others stand to the right. */
export function printTable(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): void {
  const lines = [heads, ...rows.map((row) => row.map(String))];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  for (const line of lines) {
    const cells = line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)));
    process.stdout.write(`${cells.join("  ")}\n`);
  }
}

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

export const power = (value: number): string => `10^${Math.round(Math.log10(value))}`;
