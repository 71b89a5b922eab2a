// What does HostFrontier need of a worker? Tables, robots rules, the gauge, time and chance; nothing that fetches.
import { memoryMetrics } from "../../../io/metrics.ts";
import { memoryQueue } from "../../../io/queues/memory-queue.ts";
import { systemRandom } from "../../../io/random.ts";
import { crawlTables, type RawTables } from "../../../pipelines/worker.ts";
import type { Clock } from "../../../ports/clock.ts";
import { encode } from "../../../schemas/codec.ts";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import { hostState } from "../../../schemas/host-state.ts";
import { robotsState } from "../../../schemas/robots-state.ts";
import { dueKey, type RowKey, rowKey } from "../../../schemas/row-key.ts";
import { urlState } from "../../../schemas/url-state.ts";
import { hostGauge } from "../../../transforms/host-gauge.ts";
import { liveConfig } from "../../../transforms/live-config.ts";
import { robotsReader } from "../../../transforms/robots-reader.ts";
import type { CrawlServices } from "../../../transforms/services.ts";
import { hostOfNumber, namesOf, paceKeyOfNumber, recordOf, robotsOfNumber, START, urlOfNumber } from "./given.ts";

const NOTHING = new Uint8Array();
const REV = "0"; // of every row: nobody competes for one here
const BATCH = 2_000; // rows written at once

/** The rest of CrawlServices stays absent: whoever asks for it fails. */
export function frontierServices(raw: RawTables, clock: Clock, config: CrawlConfig): CrawlServices {
  const random = systemRandom();
  const metrics = memoryMetrics();
  const tables = crawlTables(raw, random);
  return {
    clock,
    random,
    metrics,
    log: (_level: string, message: string, fields: unknown) => process.stderr.write(`${message} ${JSON.stringify(fields)}\n`),
    tables,
    queues: { host: memoryQueue() },
    robots: robotsReader(tables.robots, "Gleaner"),
    hosts: hostGauge(metrics),
    live: liveConfig(config),
  } as unknown as CrawlServices;
}

export interface Seeding {
  hosts: number;
  urlsOf(host: number): number;
  /** Unix ms when a URL of a host is first due; all before START where absent. */
  dueOf?(host: number, url: number): number;
}

/** Hosts that were asked before, with known robots rules and URLs that were never fetched. */
export async function seedHosts(raw: RawTables, { hosts, urlsOf, dueOf }: Seeding): Promise<void> {
  const row = (key: RowKey, value: Uint8Array) => ({ key, rev: REV, value: Uint8Array.from(value) });
  const write = { hosts: writer(raw.hosts), robots: writer(raw.robots), urls: writer(raw.urls), due: writer(raw.due) };
  for (let host = 0; host < hosts; host++) {
    const paceKey = paceKeyOfNumber(host);
    await write.hosts.add(row(rowKey(paceKey), encode(hostState, hostOfNumber(START - 86_400_000))));
    await write.robots.add(row(rowKey(paceKey, `https://${paceKey}`), encode(robotsState, robotsOfNumber(host))));
    for (let number = 0; number < urlsOf(host); number++) {
      const url = urlOfNumber(host, number);
      const { urlId } = namesOf(url);
      const dueAt = dueOf?.(host, number) ?? START - urlsOf(host) + number;
      const record = recordOf(url, { nextFetchAt: dueAt });
      const key = rowKey(paceKey, urlId);
      await write.urls.add(row(key, encode(urlState, record, key)));
      await write.due.add(row(dueKey({ paceKey, priority: record.priority, dueAt, urlId }), NOTHING));
    }
  }
  for (const each of Object.values(write)) await each.flush();
}

type Row = Parameters<RawTables["urls"]["insertIfAbsent"]>[0][number];

function writer(table: RawTables["urls"]) {
  let rows: Row[] = [];
  const flush = async (): Promise<void> => {
    await table.insertIfAbsent(rows);
    rows = [];
  };
  return {
    flush,
    async add(row: Row): Promise<void> {
      rows.push(row);
      if (rows.length >= BATCH) await flush();
    },
  };
}

/**
 * What Fetch would have written when a request of a lease was answered at `now`, without reading anything: the host was asked, the URL
 * is due again at `dueAt`. Done when it returns, as tables in memory are.
 */
export function writeCompletion(
  raw: RawTables,
  lease: { url: string; urlId: string; paceKey: string; version: number },
  times: { now: number; dueBefore: number; priorityBefore: number; dueAt: number; priority: number },
): void {
  const { url, urlId, paceKey } = lease;
  const { now, dueBefore, priorityBefore, dueAt, priority } = times;
  const replace = (table: RawTables["urls"], key: RowKey, value: Uint8Array): void =>
    void table.compareAndSet({ key, rev: REV, value }, REV);
  replace(raw.hosts, rowKey(paceKey), encode(hostState, hostOfNumber(now)));
  const record = recordOf(url, { version: lease.version + 1, nextFetchAt: dueAt, priority });
  const key = rowKey(paceKey, urlId);
  replace(raw.urls, key, encode(urlState, record, key));
  void raw.due.drop([dueKey({ paceKey, urlId, priority: priorityBefore, dueAt: dueBefore })]);
  void raw.due.put([{ key: dueKey({ paceKey, urlId, priority, dueAt }), rev: REV, value: NOTHING }]);
}
