// Google Cloud as the daily pipeline's stores: the records of a crawl in Bigtable, and the files of its days in its bucket. No queue is opened.
import { openBucket } from "../../io/objects/gcs/bucket.ts";
import { compactSegments } from "../../io/objects/gcs/compact-segments.ts";
import { gcsDayFiles } from "../../io/objects/gcs/day-files.ts";
import type { CloudPlace } from "./cloud-place.ts";
import { openCloudRecords } from "./cloud-records.ts";
import { PAGES } from "./cloud-stores.ts";
import type { StoresContext } from "./crawl-stores.ts";
import type { DailyStores } from "./daily-stores.ts";

/** Any number of processes may: who does a part again writes the same. Rejects with StoreError: no crawl there, forbidden, out of reach. */
export async function openCloudDailyStores(place: CloudPlace, context: Omit<StoresContext, "warcinfo">): Promise<DailyStores> {
  const { clock, random, log } = context;
  const records = await openCloudRecords(place, context);
  try {
    const bucket = await openBucket({ bucket: place.bucket, project: place.project, clock, random });
    const { segments } = records;
    return {
      ...records,
      files: gcsDayFiles({ bucket }),
      compactHour: async (day, hour) => {
        await compactSegments({ bucket, folder: PAGES, segments, clock, random, log, day, hours: [hour] });
      },
      place: `the crawl ${place.crawl} of project ${place.project}`,
    };
  } catch (error) {
    await records.close();
    throw error;
  }
}
