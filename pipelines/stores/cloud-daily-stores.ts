// Google Cloud as the daily pipeline's stores: the records of a crawl in Bigtable, and the files of its days in its bucket. No queue is opened.
import { openBucket } from "../../io/objects/gcs/bucket.ts";
import { compactSegments } from "../../io/objects/gcs/compact-segments.ts";
import { gcsDayFiles } from "../../io/objects/gcs/day-files.ts";
import { bigtableClient } from "../../io/stores/bigtable/client.ts";
import { openBigtableStore } from "../../io/stores/bigtable/store.ts";
import { recordTable, StoreError } from "../../ports/versioned-table.ts";
import { segmentPlace } from "../../schemas/segment.ts";
import { ordersOver } from "../orders.ts";
import { crawlTables, type RawTables, tableNames } from "../worker.ts";
import type { CloudPlace } from "./cloud-place.ts";
import { metaText, ORDERS, PAGES, SEGMENTS } from "./cloud-stores.ts";
import type { StoresContext } from "./crawl-stores.ts";
import { type DailyStores, liveConfigOf } from "./daily-stores.ts";

/** Any number of processes may: who does a part again writes the same. Rejects with StoreError: no crawl there, forbidden, out of reach. */
export async function openCloudDailyStores(place: CloudPlace, context: Omit<StoresContext, "warcinfo">): Promise<DailyStores> {
  const { clock, random, metrics, log } = context;
  const client = bigtableClient(place);
  try {
    const table = { client, instance: place.instance, tablePrefix: place.crawl, metrics };
    const store = await openBigtableStore({ ...table, tables: [...tableNames, SEGMENTS] });
    const written = await store.meta.get("config");
    if (written === undefined)
      throw new StoreError(`the crawl ${place.crawl} of project ${place.project} has no configuration: start it first`);
    const bucket = await openBucket({ bucket: place.bucket, project: place.project, clock, random });
    const raw = Object.fromEntries(tableNames.map((name) => [name, store.table(name)])) as RawTables;
    const segments = recordTable(store.table(SEGMENTS), segmentPlace, random);
    return {
      ...(await liveConfigOf(written, ordersOver(metaText(store.meta, ORDERS)))),
      tables: crawlTables(raw, random),
      files: gcsDayFiles({ bucket }),
      segments,
      compactHour: async (day, hour) => {
        await compactSegments({ bucket, folder: PAGES, segments, clock, random, log, day, hours: [hour] });
      },
      place: `the crawl ${place.crawl} of project ${place.project}`,
      close: async () => void (await client.close()),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}
