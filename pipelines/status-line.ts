// How is the crawl going? Its rates and counts as a line of progress.
import type { MemoryMetrics } from "../io/metrics.ts";
import type { CrawlServices } from "../transforms/services.ts";
import { type ProgressOptions, startProgress } from "./progress-line.ts";

export interface StatusOptions extends Pick<ProgressOptions, "clock" | "stream"> {
  services: Pick<CrawlServices, "queues" | "pool">;
  metrics: MemoryMetrics;
}

/** Returns a function that ends it and leaves the line clean. */
export function startStatus({ services, metrics, clock, stream }: StatusOptions): () => void {
  let last = { at: clock.now(), pages: 0 };
  async function line(): Promise<string> {
    const now = clock.now();
    const pages = metrics.total("gleaner_fetches_total");
    const rate = (pages - last.pages) / Math.max(0.001, (now - last.at) / 1000);
    last = { at: now, pages };
    const hosts = (state: string): number => metrics.gaugeValue("gleaner_hosts", { state }) ?? 0;
    const queued = await services.queues.discover.depth().catch(() => 0);
    return [
      `fetched ${pages}`,
      `${rate.toFixed(1)}/s`,
      `in flight ${services.pool.held}`,
      `hosts waiting for their turn ${hosts("waiting")}, failing ${hosts("failing")}`,
      `found ${metrics.total("gleaner_urls_discovered_total")}, queue ${queued}`,
      `${(metrics.total("gleaner_wire_bytes_total") / 1024 / 1024).toFixed(1)} MiB`,
    ].join("  ");
  }
  return startProgress({ clock, stream, line });
}
