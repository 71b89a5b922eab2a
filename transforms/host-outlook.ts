// Reads what core/frontier/outlook.ts judges: the host's record, its first pending URLs and their robots verdicts.
import { type HostOutlook, hostOutlook, type PendingUrl } from "../core/frontier/outlook.ts";
import { newHost } from "../core/politeness/host-clock.ts";
import { pacePolicy } from "../core/politeness/policy.ts";
import { hostKeyOf } from "../core/url/keys.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import { afterPrefix, duePrefix, parseDueKey, rowKey } from "../schemas/row-key.ts";
import { priorities } from "../schemas/url-state.ts";
import { judgeView } from "./robots-reader.ts";
import type { CrawlServices } from "./services.ts";

export type OutlookServices = Pick<CrawlServices, "robots"> & {
  tables: Pick<CrawlServices["tables"], "urls" | "hosts" | "due">;
};

/** URLs looked at of each class: enough to meet both host keys of a pace key. */
const PENDING_MAX = 16;

export async function readOutlook(
  services: OutlookServices,
  config: CrawlConfig,
  paceKey: string,
  now: number,
): Promise<HostOutlook> {
  const [[host], pending] = await Promise.all([
    services.tables.hosts.get([rowKey(paceKey)]),
    readPending(services, paceKey, now),
  ]);
  return hostOutlook(host?.value ?? newHost(config.epoch), pacePolicy(config, paceKey, host?.value), pending, now);
}

async function readPending({ tables, robots }: OutlookServices, paceKey: string, now: number): Promise<PendingUrl[]> {
  const scans = await Promise.all(
    [priorities.urgent, priorities.discovery].map((priority) => {
      const prefix = duePrefix(paceKey, priority);
      return tables.due.scan({ from: prefix, to: afterPrefix(prefix), limit: PENDING_MAX });
    }),
  );
  const entries = scans.flat().map((row) => parseDueKey(row.key));
  const records = await tables.urls.get(entries.map(({ urlId }) => rowKey(paceKey, urlId)));
  const agreed = entries.flatMap(({ dueAt }, index) => {
    const record = records[index]?.value;
    return record === undefined || record.nextFetchAt !== dueAt ? [] : [record];
  });
  const hostKeys = [...new Set(agreed.map((record) => hostKeyOf(record.canonicalUrl)))];
  const views = await robots.read(paceKey, hostKeys);
  return agreed.map(({ canonicalUrl, nextFetchAt, failureCount }) => {
    const view = views[hostKeys.indexOf(hostKeyOf(canonicalUrl))];
    return { url: canonicalUrl, dueAt: nextFetchAt, failureCount, robots: judgeView(view, canonicalUrl, now) };
  });
}
