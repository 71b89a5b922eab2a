// What is the crawl as a whole still waiting for? Every host's outlook, as far as the stores tell.
import type { WaitReason } from "../core/frontier/outlook.ts";
import { type RecordTable, scanPages } from "../ports/versioned-table.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import type { HostDue } from "../schemas/host-state.ts";
import { paceKeyOfHostDue } from "../schemas/row-key.ts";
import { type OutlookServices, readOutlook } from "../transforms/host-outlook.ts";

export interface Deferred {
  host: string;
  /** Unix ms of the earliest possible request. */
  at: number;
  reason: WaitReason;
  /** The URL that is first in line. */
  url: string;
}

export interface CrawlOutlook {
  /** Some first fetch or retry can start within the horizon. */
  soon: boolean;
  /** Hosts whose first fetches and retries all lie beyond it; at most DEFERRED_MAX. */
  deferred: Deferred[];
}

const DEFERRED_MAX = 1_000; // hosts named in one report
const PAGE = 1_000; // rows of one scan

export type OutlookSource = OutlookServices & { tables: { hostDue: RecordTable<HostDue> } };

/** `firstOnly`: the first host with something soon settles it, and none is listed. */
export async function outlookOfAll(
  services: OutlookSource,
  config: CrawlConfig,
  { now, horizonMs, firstOnly = false }: { now: number; horizonMs: number; firstOnly?: boolean },
): Promise<CrawlOutlook> {
  const deferred: Deferred[] = [];
  let soon = false;
  for await (const host of knownHosts(services.tables.hostDue)) {
    const outlook = await readOutlook(services, config, host, now);
    if (outlook.kind === "idle") continue;
    if (outlook.at <= now + horizonMs && outlook.reason !== "page-limit") {
      soon = true;
      if (firstOnly) return { soon, deferred: [] };
    } else if (deferred.length < DEFERRED_MAX)
      deferred.push({ host, at: outlook.at, reason: outlook.reason, url: outlook.url });
  }
  return { soon, deferred };
}

async function* knownHosts(table: RecordTable<HostDue>): AsyncGenerator<string> {
  // Shards are hex digits.
  for await (const rows of scanPages(table, { from: "", to: "g", limit: PAGE }))
    for (const row of rows) yield paceKeyOfHostDue(row.key);
}
