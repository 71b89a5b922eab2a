// What is one crawl on the embedded engine, from its options to its exit code? Opened, repaired, run, reported, closed.
import { textLog } from "../../io/log.ts";
import type { Log } from "../../ports/log.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import type { HostPolicies } from "../../schemas/crawl-config.ts";
import { repair } from "../../transforms/repair.ts";
import { exitCodes } from "../exit-codes.ts";
import { type EndCause, launchCrawl, type RunningCrawl } from "../launch.ts";
import { type CrawlOptions, UsageError } from "../options.ts";
import type { Orders } from "../orders.ts";
import { type CrawlReport, crawlReport, messageOf, printedReport } from "../report.ts";
import { startStatus } from "../status-line.ts";
import { hasCrawl, type OpenedCrawl, openCrawl } from "../wiring.ts";
import { crawlWorker, observedEvents } from "../worker.ts";
import { stopOnSignals } from "./stop-signals.ts";

/** The exit code of the command; it says on stderr what went wrong, and never rejects. */
export async function runCrawl(options: CrawlOptions): Promise<number> {
  try {
    return await crawl(options);
  } catch (error) {
    process.stderr.write(`gleaner: ${messageOf(error)}\n`);
    if (error instanceof UsageError) return exitCodes.badUsage;
    return error instanceof StoreError ? exitCodes.brokenStore : exitCodes.fault;
  }
}

async function crawl(options: CrawlOptions): Promise<number> {
  if (options.seeds.length === 0 && options.cloud === undefined && !hasCrawl(options.data)) {
    throw new UsageError("no seed: name a URL, or --seeds FILE, or a --data folder that has been crawled before");
  }
  const log: Log = textLog((line) => process.stderr.write(`${line}\n`), options.verbose ? "debug" : "warn");
  const { cloud, engine } = options;
  if (cloud !== undefined && engine !== undefined) {
    const { runPortable } = await import("../engines/run-portable.ts");
    return runPortable({ ...options, cloud }, engine);
  }
  const opened = await openCrawl(options, log);
  try {
    return await run(options, opened);
  } finally {
    await opened.close();
  }
}

async function run(options: CrawlOptions, opened: OpenedCrawl): Promise<number> {
  const { clock, config, metrics, log, orders, output, durability, settleMs } = opened;
  const seedRedirects: string[] = [];
  const events = observedEvents(opened.events, (kind, event) => noteSeedRedirect(options, seedRedirects, kind, event));
  let running: RunningCrawl | undefined;
  const worker = {
    ports: { ...opened, events },
    config,
    fetchers: options.fetchers,
    onBroken: (error: StoreError) => running?.stop("broken", error),
  };
  const services = crawlWorker(worker);
  const standing = await orders.changed();
  if (standing !== undefined) services.live.order(standing); // nobody is asked before the orders are known
  const repaired = await repair({
    services,
    sweepShards: config.sweepShards,
    progress: ({ urls }) => log("info", "checking the records", { urls }),
  });
  services.budget.spend(repaired.pagesAsked);

  const startedAt = clock.now();
  const endStatus = startStatus({ services, metrics, clock, stream: process.stderr });
  running = launchCrawl({
    services,
    config,
    seeds: options.seeds,
    idleHorizonMs: options.idleHorizonMs,
    stopWhenIdle: options.stopWhenIdle,
    settleMs,
    orders: ordersFrom(standing, orders.changed),
  });
  const signals = stopOnSignals({ now: () => clock.now(), stop: () => stopCleanly(running!) });
  const end = await running.ended;
  signals.end();
  endStatus();

  const seconds = (clock.now() - startedAt) / 1000;
  const report = await crawlReport({
    end,
    config,
    metrics,
    hosts: services.tables.hosts,
    output,
    durability,
    seconds,
    seedRedirects,
    now: clock.now(),
  });
  if (options.json) process.stdout.write(`${JSON.stringify(report)}\n`);
  (options.json ? process.stderr : process.stdout).write(`${printedReport(report)}\n`);
  return exitCodeOf(end.cause, end.error, report, repaired.pagesAsked);
}

/** The launcher's first look finds what stood at the start, or what has come since; the file is read once. */
export function ordersFrom(standing: HostPolicies | undefined, changed: Orders["changed"]): Orders["changed"] {
  let first = standing;
  return async () => {
    const found = (await changed()) ?? first;
    first = undefined;
    return found;
  };
}

/** What was acknowledged is safe, whether it comes to an end or is cut short. */
function stopCleanly(running: RunningCrawl): void {
  process.stderr.write("\ngleaner: stopping, requests under way are finished first; once more to stop at once\n");
  running.stop("interrupted");
}

function exitCodeOf(cause: EndCause, error: unknown, report: CrawlReport, pagesBefore: number): number {
  if (cause === "broken")
    return error instanceof StoreError || (error as Error | undefined)?.cause instanceof StoreError
      ? exitCodes.brokenStore
      : exitCodes.fault;
  if (cause === "interrupted") return exitCodes.interrupted;
  if (report.pages + pagesBefore === 0) return exitCodes.nothingFetched;
  return cause === "limit" ? exitCodes.limit : exitCodes.done;
}

const REDIRECTS_MAX = 1_000; // seeds named in one report

function noteSeedRedirect(options: CrawlOptions, notes: string[], kind: string, event: object): void {
  if (kind !== "skip" || notes.length >= REDIRECTS_MAX) return;
  const { source, samples } = event as { source?: string; samples: string[] };
  if (source !== "seed-redirect") return;
  for (const target of samples)
    notes.push(`a seed redirects to ${target}, outside --scope ${options.scope}; ${widerScope(options, target)} admits it`);
}

function widerScope(options: CrawlOptions, target: string): string {
  return options.scope === "host"
    ? `--scope domain (for the same registrable domain), --scope any, or the seed ${target}`
    : `--scope any, or the seed ${target}`;
}
