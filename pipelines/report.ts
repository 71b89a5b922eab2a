// How did the crawl go? One object for machines, and the same in words: outcomes, refusals, hosts, gaps against allowances, where the output lies.
import { gapMs } from "../core/politeness/host-clock.ts";
import { pacePolicy } from "../core/politeness/policy.ts";
import type { MemoryMetrics } from "../io/metrics.ts";
import { type RecordTable, scanPages } from "../ports/versioned-table.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import type { HostState } from "../schemas/host-state.ts";
import { paceKeyOf } from "../schemas/row-key.ts";
import type { CrawlEnd, EndCause } from "./launch.ts";
import type { Deferred } from "./outlook.ts";
import type { CrawlStores, Durability } from "./stores/crawl-stores.ts";

export interface CrawlReport {
  cause: EndCause;
  durability: Durability;
  seconds: number;
  /** Pages asked for and answered in this run. */
  pages: number;
  pagesPerSecond: number;
  discovered: number;
  documents: number;
  wireBytes: number;
  /** Requests and decisions of this run, by outcome; robots.txt and sitemaps apart. */
  outcomes: Record<string, number>;
  robots: Record<string, number>;
  sitemaps: Record<string, number>;
  /** Why requests failed or bodies were not kept. */
  reasons: Record<string, number>;
  /** URLs that never became records, by reason. */
  refusals: Record<string, number>;
  /** Leases that ended without a request, by reason; their URLs stay due. */
  unfetched: Record<string, number>;
  hosts: { total: number; byState: Record<string, number> };
  /** Of each host with two requests or more: the smallest time from an answer to the next request, ever, and what it was owed then. */
  gaps: HostGap[];
  gapsBroken: number;
  deferred: { host: string; at: string; reason: string }[];
  /** Seeds that redirect out of scope, and what admits the target. */
  seedRedirects: string[];
  output: CrawlStores["output"];
  error?: string;
}

export interface HostGap {
  host: string;
  gapMs: number;
  allowedMs: number;
  nowAllowedMs: number;
}

export interface ReportInput {
  end: CrawlEnd;
  config: CrawlConfig;
  metrics: MemoryMetrics;
  hosts: RecordTable<HostState>;
  output: CrawlStores["output"];
  durability: Durability;
  seconds: number;
  seedRedirects: string[];
  now: number;
}

/** Outcomes that a server's answer stands behind. */
const ANSWERED = new Set([
  "fetched",
  "unchanged",
  "redirect",
  "gone",
  "client-error",
  "server-error",
  "throttled",
  "refused-body",
]);

export async function crawlReport(input: ReportInput): Promise<CrawlReport> {
  const { end, metrics, seconds } = input;
  const outcomes = outcomesOf(metrics, "page");
  const pages = Object.entries(outcomes).reduce((sum, [outcome, count]) => sum + (ANSWERED.has(outcome) ? count : 0), 0);
  const { gaps, ...hosts } = await hostsOf(input);
  return {
    cause: end.cause,
    durability: input.durability,
    seconds: Math.round(seconds * 10) / 10,
    pages,
    pagesPerSecond: Math.round((pages / Math.max(seconds, 0.001)) * 10) / 10,
    discovered: metrics.total("gleaner_urls_discovered_total"),
    documents: metrics.total("gleaner_documents_total"),
    wireBytes: metrics.total("gleaner_wire_bytes_total"),
    outcomes,
    robots: outcomesOf(metrics, "robots"),
    sitemaps: outcomesOf(metrics, "sitemap"),
    reasons: metrics.totalsBy("gleaner_fetch_reasons_total", "reason"),
    refusals: metrics.totalsBy("gleaner_refusals_total", "reason"),
    unfetched: metrics.totalsBy("gleaner_leases_unfetched_total", "reason"),
    hosts,
    gaps,
    gapsBroken: gaps.filter((gap) => gap.gapMs < gap.allowedMs).length,
    deferred: end.deferred
      .filter(isWorthTelling)
      .map(({ host, at, reason }) => ({ host, at: new Date(at).toISOString(), reason })),
    seedRedirects: input.seedRedirects,
    output: input.output,
    ...(end.error === undefined ? {} : { error: messageOf(end.error) }),
  };
}

function outcomesOf(metrics: MemoryMetrics, kind: string): Record<string, number> {
  const counters = metrics
    .snapshot()
    .counters.filter(({ name, labels }) => name === "gleaner_fetches_total" && labels.kind === kind);
  return Object.fromEntries(counters.map(({ labels, value }) => [labels.outcome ?? "", value]));
}

/** A host that only waits for its next turn is not deferred, it was interrupted. */
function isWorthTelling({ reason }: Deferred): boolean {
  return reason !== "turn";
}

const PAGE = 1_000; // rows of one scan
const GAPS_MAX = 10_000; // hosts whose gaps one report carries

async function hostsOf({ hosts, config, end, now }: ReportInput) {
  const byState: Record<string, number> = {};
  const gaps: HostGap[] = [];
  const waiting = new Map(end.deferred.map(({ host, reason }) => [host, reason]));
  let total = 0;
  // Keys begin with hex digits.
  for await (const rows of scanPages(hosts, { from: "", to: "g", limit: PAGE })) {
    for (const { key, value } of rows) {
      const host = paceKeyOf(key);
      const state = waiting.get(host) ?? (value.backoffUntil > now ? "backoff" : "finished");
      byState[state] = (byState[state] ?? 0) + 1;
      const { smallestGap } = value;
      if (smallestGap !== undefined && gaps.length < GAPS_MAX)
        gaps.push({ host, ...smallestGap, nowAllowedMs: gapMs(value, pacePolicy(config, host, value)) });
    }
    total += rows.length;
  }
  return { total, byState, gaps };
}

/** The error and what it came of, on one line. */
export function messageOf(error: unknown): string {
  const parts: string[] = [];
  for (let each: unknown = error; each !== undefined && parts.length < 4; each = (each as { cause?: unknown }).cause) {
    const said = each instanceof Error ? each.message : String(each);
    if (!parts.some((part) => part.includes(said))) parts.push(said);
    if (!(each instanceof Error)) break;
  }
  return parts.join(": ").replaceAll(/\s+/g, " ");
}

const LISTED = 12; // hosts, reasons and redirects named in the printed report

const SURVIVES: Readonly<Record<Durability, string>> = {
  power: "survive a power cut",
  process: "survive a killed process",
  service: "are the services' own",
};

export function printedReport(report: CrawlReport): string {
  const { hosts, gaps } = report;
  const lines = [
    headline(report),
    row(
      "pages",
      `${report.pages} answered in ${report.seconds} s (${report.pagesPerSecond} a second), ${mib(report.wireBytes)} MiB received`,
    ),
    row("outcomes", counts(report.outcomes)),
    row("robots.txt", counts(report.robots)),
    ...(Object.keys(report.sitemaps).length > 0 ? [row("sitemaps", counts(report.sitemaps))] : []),
    ...(Object.keys(report.reasons).length > 0 ? [row("reasons", counts(report.reasons))] : []),
    row("discovered", `${report.discovered} URLs; documents written: ${report.documents}`),
    row("refused", counts(report.refusals)),
    row("hosts", `${hosts.total}: ${counts(hosts.byState)}`),
    ...gapLines(gaps, report.gapsBroken),
    ...listed("deferred", report.deferred, ({ host, at, reason }) => `${host} until ${at} (${reason})`),
    ...listed("seed redirects", report.seedRedirects, (line) => line),
    row(
      "output",
      `${report.output.pages} (WARC, cdxj), ${report.output.documents}, ${report.output.events}; commits ${SURVIVES[report.durability]}`,
    ),
  ];
  return lines.join("\n");
}

function headline({ cause, error }: CrawlReport): string {
  const words: Record<EndCause, string> = {
    done: "The crawl is done: nothing more is due soon.",
    limit: "The crawl ended at its page limit.",
    interrupted: "The crawl was interrupted; the same command resumes it.",
    broken: `The crawl ended by a fault: ${error ?? "unknown"}`,
  };
  return words[cause];
}

function gapLines(gaps: readonly HostGap[], broken: number): string[] {
  if (gaps.length === 0) return [];
  const tightest = [...gaps].sort((a, b) => a.gapMs - a.allowedMs - (b.gapMs - b.allowedMs));
  const verdict = broken === 0 ? "no host was asked sooner than allowed" : `${broken} hosts WERE ASKED SOONER THAN ALLOWED`;
  return listed(
    `gaps`,
    tightest,
    ({ host, gapMs: gap, allowedMs }) => `${host}: smallest ${gap} ms, allowed ${allowedMs} ms`,
    `${verdict}; smallest gap of each, from answer to next request:`,
  );
}

function listed<T>(name: string, items: readonly T[], line: (item: T) => string, head = `${items.length}`): string[] {
  if (items.length === 0) return [];
  const more = items.length > LISTED ? [row("", `… and ${items.length - LISTED} more (--json has all)`)] : [];
  return [row(name, head), ...items.slice(0, LISTED).map((item) => row("", line(item))), ...more];
}

const NAME_COLUMNS = 16;

function row(name: string, value: string): string {
  return `  ${name.padEnd(NAME_COLUMNS)}${value}`;
}

function counts(record: Record<string, number>): string {
  const entries = Object.entries(record).sort(([, a], [, b]) => b - a);
  return entries.length === 0 ? "none" : entries.map(([name, count]) => `${name} ${count}`).join(", ");
}

function mib(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
