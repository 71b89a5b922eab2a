// What stands in Bigtable of a crawl that was begun? Its tables, and its settings with the orders that stand; for who is not the crawl itself.
import { bigtableClient } from "../../io/stores/bigtable/client.ts";
import { openBigtableStore } from "../../io/stores/bigtable/store.ts";
import { type RecordTable, recordTable, StoreError } from "../../ports/versioned-table.ts";
import { type SegmentPlace, segmentPlace } from "../../schemas/segment.ts";
import type { LiveConfig } from "../../transforms/live-config.ts";
import type { Tables } from "../../transforms/services.ts";
import { ordersOver } from "../orders.ts";
import { crawlTables, type RawTables, tableNames } from "../worker.ts";
import type { CloudPlace } from "./cloud-place.ts";
import { metaText, ORDERS, SEGMENTS } from "./cloud-stores.ts";
import type { StoresContext } from "./crawl-stores.ts";
import { liveConfigOf } from "./daily-stores.ts";

export interface CloudRecords {
  tables: Tables;
  live: LiveConfig;
  /** Where segments lie that were composed into larger ones. */
  segments: RecordTable<SegmentPlace>;
  close(): Promise<void>;
}

/** Rejects with StoreError: no crawl there, forbidden, out of reach. */
export async function openCloudRecords(
  place: CloudPlace,
  { random, metrics }: Pick<StoresContext, "random" | "metrics">,
): Promise<CloudRecords> {
  const client = bigtableClient(place);
  try {
    const table = { client, instance: place.instance, tablePrefix: place.crawl, metrics };
    const store = await openBigtableStore({ ...table, tables: [...tableNames, SEGMENTS] });
    const written = await store.meta.get("config");
    if (written === undefined)
      throw new StoreError(`the crawl ${place.crawl} of project ${place.project} has no configuration: start it first`);
    const raw = Object.fromEntries(tableNames.map((name) => [name, store.table(name)])) as RawTables;
    return {
      ...(await liveConfigOf(written, ordersOver(metaText(store.meta, ORDERS)))),
      tables: crawlTables(raw, random),
      segments: recordTable(store.table(SEGMENTS), segmentPlace, random),
      close: async () => void (await client.close()),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}
