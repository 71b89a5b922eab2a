// Where does the daily pipeline read and write? In the records and files of a crawl, beside it or without it, and owning neither.
import { localDayFiles } from "../../io/objects/day-files.ts";
import { openSqliteStore } from "../../io/stores/sqlite-store.ts";
import type { Random } from "../../ports/random.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { DailyServices } from "../../transforms/daily/services.ts";
import { type LiveConfig, liveConfig } from "../../transforms/live-config.ts";
import { type Orders, ordersIn } from "../orders.ts";
import { crawlTables, type RawTables, tableNames } from "../worker.ts";

export interface DailyStores extends Pick<DailyServices, "tables" | "files" | "live" | "segments" | "compactHour"> {
  /** For people. */
  place: string;
  close(): Promise<void>;
}

/** A data directory, whether a crawl runs on it or not. Rejects with StoreError: no crawl there, or another daily run at work. */
export async function openLocalDailyStores(folder: string, random: Random): Promise<DailyStores> {
  const store = await openSqliteStore({ folder, tables: tableNames, queues: [], durability: "power", guest: true });
  try {
    const written = await store.meta.get("config");
    if (written === undefined) throw new StoreError(`${folder} holds a crawl that ended before it began: start it again`);
    const raw = Object.fromEntries(tableNames.map((name) => [name, store.table(name)])) as RawTables;
    return {
      ...(await liveConfigOf(written, ordersIn(folder))),
      tables: crawlTables(raw, random),
      files: localDayFiles(folder),
      place: folder,
      close: () => store.close(),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** What the crawl was asked for, with the orders that stand. `written`: its configuration, as its launcher wrote it. */
export async function liveConfigOf(written: string, orders: Orders): Promise<{ live: LiveConfig }> {
  const live = liveConfig(JSON.parse(written) as CrawlConfig);
  live.order(await orders.read());
  return { live };
}
