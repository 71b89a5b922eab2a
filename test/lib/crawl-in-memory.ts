// The real pipeline on the embedded engine with stores in memory, over real sockets: what most tests of the whole crawl run.

import { parseRanges } from "../../core/http/public-address.ts";
import { compileConnectTo } from "../../core/url/connect-to.ts";
import { systemClock } from "../../io/clock.ts";
import { gunzip } from "../../io/gunzip.ts";
import { systemResolver } from "../../io/http/dns.ts";
import { undiciHttp } from "../../io/http/undici-http.ts";
import { textLog } from "../../io/log.ts";
import { memoryMetrics } from "../../io/metrics.ts";
import { memoryArchive, memoryEvents, memoryLines } from "../../io/objects/memory.ts";
import { inlineParser } from "../../io/parsing/inline.ts";
import { memoryQueue } from "../../io/queues/memory-queue.ts";
import { systemRandom } from "../../io/random.ts";
import { memoryTable } from "../../io/stores/memory-table.ts";
import { configOf } from "../../pipelines/config.ts";
import { type CrawlEnd, launchCrawl } from "../../pipelines/launch.ts";
import { parseOptions } from "../../pipelines/options.ts";
import { crawlWorker, type RawTables, tableNames, type WorkerPorts } from "../../pipelines/worker.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { CrawlServices } from "../../transforms/services.ts";

export type MemoryPorts = WorkerPorts & {
  metrics: ReturnType<typeof memoryMetrics>;
  archive: ReturnType<typeof memoryArchive>;
  documents: ReturnType<typeof memoryLines>;
  events: ReturnType<typeof memoryEvents>;
};

function memoryPorts(port: number, logged: (line: string) => void = () => {}): MemoryPorts {
  const clock = systemClock();
  const metrics = memoryMetrics();
  const ranges = parseRanges(["127.0.0.0/8"]);
  if (!ranges.ok) throw new Error(ranges.fault);
  // Every port of a *.test host leads to the web's, so that hosts may be named without one.
  const connectTo = compileConnectTo([`*.test:*=127.0.0.1:${port}`]);
  return {
    clock,
    metrics,
    random: systemRandom(),
    log: textLog(logged, "warn"),
    http: undiciHttp({
      clock,
      metrics,
      resolver: systemResolver({ clock }),
      allow: ranges.ranges,
      connectTo: (host, to) => connectTo.target(host, to),
      fetchers: 64,
    }),
    archive: memoryArchive(),
    documents: memoryLines(),
    events: memoryEvents(),
    parser: inlineParser(),
    gunzip,
    tables: Object.fromEntries(tableNames.map((name) => [name, memoryTable()])) as RawTables,
    queues: { discover: memoryQueue(), host: memoryQueue(), reparse: memoryQueue() },
  };
}

export interface MemoryCrawl {
  end: CrawlEnd;
  ports: MemoryPorts;
  services: CrawlServices;
  config: CrawlConfig;
}

export interface MemoryCrawlOptions {
  port: number;
  seeds: string[];
  /** As on the command line. */
  flags?: string[];
  idleHorizonMs?: number;
  /** Stores of an earlier crawl, or ports with a deliberate break. */
  ports?: MemoryPorts;
  /** The number of the job. */
  epoch?: number;
  /** Changes to the services after they are joined. */
  change?: (services: CrawlServices) => void;
}

/** Crawls until idle. Rejects where the crawl ended by a fault. */
export async function crawlInMemory(options: MemoryCrawlOptions): Promise<MemoryCrawl> {
  const { seeds, port, flags = [], idleHorizonMs = 1_000, epoch = 1 } = options;
  const parsed = parseOptions([...seeds, "--allow-address", "127.0.0.0/8", "--contact", "test@example.org", ...flags]);
  if (parsed === "help") throw new Error("help was asked for");
  const config = configOf(parsed, { seeds: parsed.seeds, epoch, clockSkewMs: 0 });
  const ports = options.ports ?? memoryPorts(port);
  const services = crawlWorker({ ports, config, fetchers: 64, onBroken: () => {} });
  options.change?.(services);
  const running = launchCrawl({ services, config, seeds: parsed.seeds, idleHorizonMs, stopWhenIdle: true });
  const end = await running.ended;
  await ports.http.close();
  if (end.cause === "broken") throw new Error("the crawl ended by a fault", { cause: end.error });
  return { end, ports, services, config };
}

/** Paths that the web answered with 2xx, of one host, without robots.txt. */
export function answeredPaths(log: readonly { host: string; path: string; status: number }[], host: string): string[] {
  return log
    .filter((entry) => entry.host === host && entry.status < 300 && entry.path !== "/robots.txt")
    .map((entry) => entry.path);
}
