// Reads what core/frontier/outlook.ts judges: the host's record, its first pending URLs and their robots verdicts.
import { type HostOutlook, hostOutlook, type PendingUrl } from "../core/frontier/outlook.ts";
import { newHost } from "../core/politeness/host-clock.ts";
import { pacePolicy } from "../core/politeness/policy.ts";
import { hostKeyOf } from "../core/url/keys.ts";
import { scanPages } from "../ports/versioned-table.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import { afterPrefix, duePrefix, parseDueKey, rowKey } from "../schemas/row-key.ts";
import { priorities } from "../schemas/url-state.ts";
import { judgeView } from "./robots-reader.ts";
import type { CrawlServices } from "./services.ts";

export type OutlookServices = Pick<CrawlServices, "robots"> & {
  tables: Pick<CrawlServices["tables"], "urls" | "hosts" | "due">;
};

/** URLs looked at in one read, and at most: enough to find one that is not blocked behind many that are. */
const PAGE = 64;
const PENDING_MAX = 4_096;

export async function readOutlook(
  services: OutlookServices,
  config: CrawlConfig,
  paceKey: string,
  now: number,
): Promise<HostOutlook> {
  const [host] = await services.tables.hosts.get([rowKey(paceKey)]);
  const record = host?.value ?? newHost(config.epoch);
  const policy = pacePolicy(config, paceKey, host?.value);
  let best: HostOutlook = { kind: "idle" };
  for (const priority of [priorities.urgent, priorities.discovery]) {
    for await (const pending of pendingPages(services, paceKey, priority, now)) {
      const outlook = hostOutlook(record, policy, pending, now);
      if (outlook.kind === "pending" && (best.kind === "idle" || outlook.at < best.at)) best = outlook;
      if (best.kind === "pending" && !BLOCKED.has(best.reason)) break; // later entries are due no sooner
    }
  }
  return best;
}

/** Reasons that hold one host key, not the host: another of its URLs may be free. */
const BLOCKED: ReadonlySet<string> = new Set(["robots-unreachable", "robots-deferred"]);

async function* pendingPages(
  { tables, robots }: OutlookServices,
  paceKey: string,
  priority: number,
  now: number,
): AsyncGenerator<PendingUrl[]> {
  const from = duePrefix(paceKey, priority);
  let read = 0;
  for await (const rows of scanPages(tables.due, { from, to: afterPrefix(from), limit: PAGE })) {
    const entries = rows.map((row) => parseDueKey(row.key));
    const records = await tables.urls.get(entries.map(({ urlId }) => rowKey(paceKey, urlId)));
    const agreed = entries.flatMap(({ dueAt }, index) => {
      const record = records[index]?.value;
      return record === undefined || record.nextFetchAt !== dueAt ? [] : [record];
    });
    const hostKeys = [...new Set(agreed.map((record) => hostKeyOf(record.canonicalUrl)))];
    const views = await robots.read(paceKey, hostKeys);
    yield agreed.map(({ canonicalUrl, nextFetchAt, failureCount }) => {
      const view = views[hostKeys.indexOf(hostKeyOf(canonicalUrl))];
      return { url: canonicalUrl, dueAt: nextFetchAt, failureCount, robots: judgeView(view, canonicalUrl, now) };
    });
    read += rows.length;
    if (read >= PENDING_MAX) return;
  }
}
