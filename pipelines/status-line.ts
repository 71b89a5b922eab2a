// How is it going? One live line on a terminal, one line every ten seconds elsewhere.
import type { MemoryMetrics } from "../io/metrics.ts";
import type { Clock } from "../ports/clock.ts";
import type { CrawlServices } from "../transforms/services.ts";

export interface StatusOptions {
  services: Pick<CrawlServices, "queues" | "pool">;
  metrics: MemoryMetrics;
  clock: Clock;
  stream: { isTTY?: boolean; columns?: number; write(text: string): unknown };
}

const LIVE_MS = 500;
const PLAIN_MS = 10_000;

/** Returns a function that ends it and leaves the line clean. */
export function startStatus({ services, metrics, clock, stream }: StatusOptions): () => void {
  const live = stream.isTTY === true;
  let last = { at: clock.now(), pages: 0 };
  let callOff = clock.after(live ? LIVE_MS : PLAIN_MS, tick);
  let ended = false;
  function tick(): void {
    void line().then((text) => {
      if (ended) return;
      stream.write(live ? `\r\u001b[2K${text.slice(0, (stream.columns ?? 120) - 1)}` : `${text}\n`);
      callOff = clock.after(live ? LIVE_MS : PLAIN_MS, tick);
    });
  }
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
  return () => {
    ended = true;
    callOff();
    if (live) stream.write("\r\u001b[2K");
  };
}
