// How do a host key's robots rules become durable? The newest answer wins, and the host's clock never lags behind the delay they ask for.
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { HostState } from "../../schemas/host-state.ts";
import type { RobotsState } from "../../schemas/robots-state.ts";
import { afterPrefix, rowKey } from "../../schemas/row-key.ts";
import type { CrawlServices } from "../services.ts";
import { changeHost, hostDesk } from "./host-record.ts";

/** The rules never stand without the delay they ask for: it is raised before them, and lowered after. */
export async function writeState(
  services: CrawlServices,
  config: CrawlConfig,
  where: { paceKey: string; hostKey: string },
  state: RobotsState,
): Promise<RobotsState> {
  await setCrawlDelay(services, config, where.paceKey, (before) => Math.max(before, state.crawlDelayMs ?? 0));
  const standing = await newestState(services, where, state);
  const largest = await largestCrawlDelay(services, where.paceKey);
  await setCrawlDelay(services, config, where.paceKey, () => largest);
  return standing;
}

/** The newest answer wins: a robots record has one writer at a time, the lease that was admitted. */
async function newestState(
  { tables }: CrawlServices,
  where: { paceKey: string; hostKey: string },
  state: RobotsState,
): Promise<RobotsState> {
  const key = rowKey(where.paceKey, where.hostKey);
  for (;;) {
    const [row] = await tables.robots.get([key]);
    if (row !== undefined && row.value.fetchedAt > state.fetchedAt) return row.value;
    if (row === undefined) {
      const [inserted] = await tables.robots.insertIfAbsent([{ key, value: state }]);
      if (inserted) return state;
    } else if ((await tables.robots.compareAndSet(key, state, row.rev)) !== undefined) return state;
  }
}

const HOST_KEYS_MAX = 16; // of one pace key: two by default, more only where a domain shares a clock

/** The host waits as long as the slowest of its host keys asks. */
async function largestCrawlDelay({ tables }: CrawlServices, paceKey: string): Promise<number> {
  const prefix = rowKey(paceKey);
  const rows = await tables.robots.scan({ from: prefix, to: afterPrefix(prefix), limit: HOST_KEYS_MAX });
  return Math.max(0, ...rows.map((row) => row.value.crawlDelayMs ?? 0));
}

async function setCrawlDelay(
  services: CrawlServices,
  config: CrawlConfig,
  paceKey: string,
  change: (beforeMs: number) => number,
): Promise<void> {
  await changeHost(services, hostDesk(config, paceKey, false), (host): HostState => {
    const { crawlDelayMs = 0, ...rest } = host;
    const after = change(crawlDelayMs);
    if (after === crawlDelayMs) return host;
    return after === 0 ? rest : { ...rest, crawlDelayMs: after };
  });
}
