// When has the calm after a storm lasted long enough? When every host that had something to do was asked again, or may not be asked.

import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { afterPrefix, rowKey } from "../../schemas/row-key.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import type { VirtualClock } from "../lib/virtual-clock.ts";
import { allowancesNow, freeFrom, type HostBacklog, noteBacklog } from "./checkers/backlog.ts";
import type { SimOrder } from "./orders.ts";
import type { Wire } from "./wire.ts";

export interface CalmOptions {
  tables: CrawlServices["tables"];
  config: CrawlConfig;
  orders: readonly SimOrder[];
  wire: Wire;
  clock: VirtualClock;
  /** Names of all. */
  hosts: readonly string[];
}

/** What is under way, late or held back comes to its end in this. */
const CALM_MS_MIN = 90_000;
const LOOK_MS = 30_000; // between two looks, each of which reads a host's records
/** Back-offs of the storm, sweeps and lost leases are over in this: who was not asked by then is for the checkers to judge. */
const CALM_MS_MAX = 30 * 60_000;

/** Begins the watch; what it gives is asked at each look, and answers true once the calm may end. */
export function calmEnds({ tables, config, orders, wire, clock, hosts }: CalmOptions): () => Promise<boolean> {
  const since = clock.now();
  const allowanceOf = allowancesNow({ config, orders });
  /** Those of which it is not known whether they still work. */
  const unheard = new Set(hosts);
  wire.arrived.push((entry) => void unheard.delete(entry.host));

  async function isOwed(paceKey: string): Promise<boolean> {
    const now = clock.now();
    const backlogs = new Map<string, HostBacklog>();
    const rows = await tables.urls.scan({ from: rowKey(paceKey), to: afterPrefix(rowKey(paceKey)), limit: ROWS_MAX });
    for (const { value } of rows) noteBacklog(backlogs, paceKey, value, now);
    for (const [hostKey, { oldest }] of backlogs) {
      if (oldest !== undefined && (await freeFrom(tables, hostKey, paceKey, allowanceOf(paceKey, now))) <= now) return true;
    }
    return false;
  }

  let lookAt = since + CALM_MS_MIN;
  return async () => {
    const now = clock.now();
    if (now >= since + CALM_MS_MAX) return true;
    if (now < lookAt) return false;
    lookAt = now + LOOK_MS;
    for (const host of unheard) {
      if (await isOwed(host)) return false;
      unheard.delete(host);
    }
    return true;
  };
}

const ROWS_MAX = 100_000; // of one host: all that it has
