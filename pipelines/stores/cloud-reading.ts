// What do tools read of a crawl in Google Cloud? Its records in Bigtable, and the events that Pub/Sub wrote into its bucket; nothing is written.
import { systemClock } from "../../io/clock.ts";
import { memoryMetrics } from "../../io/metrics.ts";
import { type ObjectBucket, openBucket } from "../../io/objects/gcs/bucket.ts";
import { eventFolders } from "../../io/objects/gcs/event-folders.ts";
import { readEvents } from "../../io/objects/read-events.ts";
import { systemRandom } from "../../io/random.ts";
import { robotsReader } from "../../transforms/robots-reader.ts";
import type { CrawlReading } from "../wiring.ts";
import type { CloudPlace } from "./cloud-place.ts";
import { openCloudRecords } from "./cloud-records.ts";

const EVENTS = "events";
const EVENT_BYTES_MAX = 32 * 1024 * 1024; // a second of a fast link, some 40,000 fetches

/** Rejects with StoreError: no crawl there, forbidden, out of reach. */
export async function openCloudReading(place: CloudPlace): Promise<CrawlReading> {
  const [clock, random] = [systemClock(), systemRandom()];
  const { tables, live, close } = await openCloudRecords(place, { random, metrics: memoryMetrics() });
  const config = live.now();
  let opening: Promise<ObjectBucket> | undefined;
  const bucketOnce = () => (opening ??= openBucket({ bucket: place.bucket, project: place.project, clock, random }));
  return {
    folder: `gs://${place.bucket}`,
    tables,
    config,
    robots: robotsReader(tables.robots, config.productToken),
    now: () => clock.now(),
    running: () => undefined,
    async events(wanted) {
      const files = eventFolders(EVENTS, await bucketOnce(), clock);
      return readEvents({ ...wanted, folder: EVENTS, files, bytesMax: EVENT_BYTES_MAX });
    },
    close,
  };
}
