// Google Cloud as a crawl's stores: records in Bigtable, messages and events through Pub/Sub, pages and documents in Cloud Storage.
import { manifestPath } from "../../core/partitions/partition-files.ts";
import { pubsubEvents } from "../../io/events/pubsub-events.ts";
import { gcsArchive } from "../../io/objects/gcs/archive.ts";
import { openBucket, setUpStorage } from "../../io/objects/gcs/bucket.ts";
import { type CompactionReport, compactSegments } from "../../io/objects/gcs/compact-segments.ts";
import { gcsLines } from "../../io/objects/gcs/lines.ts";
import { openPubsub } from "../../io/queues/pubsub-client.ts";
import { ACK_DEADLINE_SECONDS, pubsubNames } from "../../io/queues/pubsub-names.ts";
import { pubsubQueue } from "../../io/queues/pubsub-queue.ts";
import { setUpPubsub } from "../../io/queues/pubsub-setup.ts";
import { bigtableClient } from "../../io/stores/bigtable/client.ts";
import type { BigtableMeta } from "../../io/stores/bigtable/meta.ts";
import { setUpBigtable } from "../../io/stores/bigtable/set-up.ts";
import { openBigtableStore } from "../../io/stores/bigtable/store.ts";
import { recordTable } from "../../ports/versioned-table.ts";
import { limits } from "../../schemas/limits.ts";
import { segmentPlace } from "../../schemas/segment.ts";
import { type Orders, ordersOver } from "../orders.ts";
import { type RawTables, tableNames } from "../worker.ts";
import type { CloudPlace } from "./cloud-place.ts";
import type { CrawlStores, StoresContext } from "./crawl-stores.ts";

/** Beside the records of the crawl: where segments lie that were composed into larger objects. */
export const SEGMENTS = "segments";
/** Folders of the bucket. */
export const PAGES = "pages";
const DOCUMENTS = "documents";
/** Among the facts about the crawl. */
export const ORDERS = "host-policies";
const ALL_TABLES = [...tableNames, SEGMENTS];

/** What a worker that died held comes again after its deadline; a poll of ours more, and some time on the way. */
const SETTLE_MS = (ACK_DEADLINE_SECONDS + 5) * 1000;

/** Rejects with StoreError where something of it is missing, forbidden or of another version: the line says which, and what to do. */
export async function openCloudStores(place: CloudPlace, context: StoresContext): Promise<CrawlStores> {
  const { clock, random, metrics, log, warcinfo } = context;
  const bigtable = bigtableClient(place);
  const opened: (() => Promise<unknown>)[] = [() => bigtable.close()];
  const close = async (): Promise<void> => {
    for (const end of opened.toReversed()) await end();
  };
  try {
    const table = { client: bigtable, instance: place.instance, tablePrefix: place.crawl, metrics };
    const store = await openBigtableStore({ ...table, tables: ALL_TABLES });
    const bucket = await openBucket({ bucket: place.bucket, project: place.project, clock, random });
    const client = await openPubsub({ project: place.project });
    opened.push(() => client.close());
    const names = pubsubNames(place.project, place.crawl);
    const queueOf = (queue: keyof typeof names.queues) => {
      const made = pubsubQueue({ client, names: names.queues[queue], log, clock });
      opened.push(() => made.close());
      return made;
    };
    const segments = recordTable(store.table(SEGMENTS), segmentPlace, random);
    const folder = (name: string): string => `gs://${place.bucket}/${name}`;
    return {
      tables: Object.fromEntries(tableNames.map((name) => [name, store.table(name)])) as RawTables,
      queues: { discover: queueOf("discover"), host: queueOf("host"), reparse: queueOf("reparse") },
      archive: gcsArchive({ bucket, folder: PAGES, segments, clock, random, warcinfo, log }),
      documents: gcsLines({ bucket, folder: DOCUMENTS, clock, random }),
      events: pubsubEvents({ client, names: names.events }),
      meta: store.meta,
      orders: ordersOver(metaText(store.meta, ORDERS)),
      output: {
        pages: folder(PAGES),
        documents: folder(DOCUMENTS),
        events: `Pub/Sub topics ${place.crawl}-events-*`,
      },
      durability: "service",
      clockSkewMs: limits.clockSkewMs,
      settleMs: SETTLE_MS,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The orders about hosts alone, for who gives them. Rejects with StoreError as openCloudStores does. */
export async function openCloudOrders(place: CloudPlace): Promise<{ orders: Orders; close(): Promise<void> }> {
  const client = bigtableClient(place);
  try {
    const store = await openBigtableStore({ client, instance: place.instance, tablePrefix: place.crawl, tables: [] });
    return {
      orders: ordersOver(metaText(store.meta, ORDERS)),
      close: async () => void (await client.close()),
    };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** A text of the crawl as pipelines/orders.ts reads and changes a file. */
export function metaText(meta: BigtableMeta, name: string) {
  let seen: string | undefined | null = null;
  return {
    path: `the crawl's '${name}'`,
    read: () => meta.get(name),
    async changed() {
      const text = await meta.get(name);
      if (text === seen) return undefined;
      seen = text;
      return { text };
    },
    async change(make: (text: string | undefined) => string) {
      await meta.change(name, make);
    },
  };
}

export interface SetUpOptions extends Pick<StoresContext, "clock" | "random"> {
  /** Of a bucket that is made. */
  location: string;
  /** BigQuery's dataset with the tables of schemas/tables. Without one, events wait in subscriptions to be pulled. */
  dataset?: string;
  /** Told what is done, a line a service. */
  say(line: string): void;
}

/** Makes what is missing; may run twice, or twice at once. Rejects with StoreError. */
export async function setUpCloudStores(
  place: CloudPlace,
  { clock, random, location, dataset, say }: SetUpOptions,
): Promise<void> {
  const { project, instance, bucket, crawl } = place;
  const bigtable = bigtableClient(place);
  try {
    const tables = await setUpBigtable({ client: bigtable, instance, tablePrefix: crawl, tables: ALL_TABLES });
    say(`Bigtable instance ${instance}: ${told(Object.entries(tables))}`);
  } finally {
    await bigtable.close();
  }
  // Before Pub/Sub, which refuses to write into a bucket that is not there.
  say(`Cloud Storage: bucket ${bucket} ${await setUpStorage({ bucket, project, location, clock, random })}`);
  const client = await openPubsub({ project });
  try {
    const asked = { client, prefix: crawl, bucket, ...(dataset === undefined ? {} : { dataset }) };
    const { made, changed } = await setUpPubsub(asked);
    say(`Pub/Sub: ${made.length} topics and subscriptions made, ${changed.length} changed`);
  } finally {
    await client.close();
  }
}

function told(tables: [name: string, what: string][]): string {
  return [...Map.groupBy(tables, ([, what]) => what)].map(([what, some]) => `${some.length} tables ${what}`).join(", ");
}

export interface CompactOptions extends Pick<StoresContext, "clock" | "random" | "log"> {
  /** YYYY-MM-DD, UTC. */
  day: string;
}

/** Undefined where the day is closed: its manifest names what there is. Rejects with StoreError; what was done stands, and a next run goes on. */
export async function compactCloudStores(place: CloudPlace, options: CompactOptions): Promise<CompactionReport | undefined> {
  const bigtable = bigtableClient(place);
  try {
    const table = { client: bigtable, instance: place.instance, tablePrefix: place.crawl };
    const store = await openBigtableStore({ ...table, tables: [SEGMENTS] });
    const bucket = await openBucket({ ...options, bucket: place.bucket, project: place.project });
    if ((await bucket.describe(manifestPath(PAGES, options.day))) !== undefined) return undefined;
    const segments = recordTable(store.table(SEGMENTS), segmentPlace, options.random);
    return await compactSegments({ ...options, bucket, folder: PAGES, segments });
  } finally {
    await bigtable.close();
  }
}
