// Where does the daily pipeline read and write? In the records and files of a crawl, beside it or without it, and owning neither.
import { localDayFiles } from "../../io/objects/day-files.ts";
import { openSqliteStore } from "../../io/stores/sqlite-store.ts";
import type { DayFiles } from "../../ports/day-files.ts";
import type { Random } from "../../ports/random.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { type LiveConfig, liveConfig } from "../../transforms/live-config.ts";
import type { Tables } from "../../transforms/services.ts";
import { ordersIn } from "../orders.ts";
import { crawlTables, type RawTables, tableNames } from "../worker.ts";

export interface DailyStores {
  tables: Tables;
  files: DayFiles;
  /** What the crawl was asked for, with the orders that stand. */
  live: LiveConfig;
  config: CrawlConfig;
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
    const config = JSON.parse(written) as CrawlConfig;
    const live = liveConfig(config);
    live.order(await ordersIn(folder).read());
    const raw = Object.fromEntries(tableNames.map((name) => [name, store.table(name)])) as RawTables;
    return {
      tables: crawlTables(raw, random),
      files: localDayFiles(folder),
      live,
      config,
      place: folder,
      close: () => store.close(),
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}
