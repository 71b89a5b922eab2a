// What must the Terraform call things, and which numbers must it give them? What the adapters use, as terraform/generated/names.json has it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { dataflowOptions } from "../../beam/portable/dataflow.ts";
import {
  ACK_DEADLINE_SECONDS,
  DELIVERIES_MAX,
  EVENT_FILES,
  FILES_ACK_DEADLINE_SECONDS,
  type PubsubNames,
  pubsubNames,
  RETENTION_SECONDS,
} from "../../io/queues/pubsub-names.ts";
import { META_TABLE } from "../../io/stores/bigtable/meta.ts";
import { firstSplits } from "../../io/stores/bigtable/set-up.ts";
import { FAMILY } from "../../io/stores/bigtable/writes.ts";
import { tableNames } from "../../pipelines/worker.ts";
import { encode } from "../../schemas/codec.ts";
import { limits } from "../../schemas/limits.ts";
import { hostQueueMessage } from "../../schemas/messages.ts";
import { eventTables } from "../../schemas/tables/event-tables.ts";

export const NAMES_FILE = join(import.meta.dirname, "../../terraform/generated/names.json");

const MINUTE_MS = 60_000;

/** Of the stores that are not the crawl's records alone; set-up.test.ts shows that the set-up makes just these tables. */
const ALL_TABLES = [...tableNames, "segments", META_TABLE];

/** Folders of the bucket, and how their objects' names end; set-up.test.ts and as-the-code.test.ts hold them to the adapters. */
const FOLDERS = {
  pages: { folder: "pages", ending: ".warc.gz" },
  documents: { folder: "documents", ending: ".ndjson.gz" },
  events: { folder: "events", ending: EVENT_FILES.suffix },
};

/** JSON; its parts are told of in terraform/README.md. */
export function namesFile(): string {
  return `${JSON.stringify(names(), null, 2)}\n`;
}

/** Names are without the crawl's, which the Terraform puts before them with a hyphen. */
function names() {
  const { queues, events, dead } = pubsubNames("p", "crawl");
  return {
    messaging: {
      queues: Object.keys(queues).map((queue) => ownName(queues[queue as keyof typeof queues].topic)),
      events: Object.fromEntries(eventTables.map(({ kind, name }) => [ownName(events[kind].topic), name])),
      eventFiles: eventFiles(events),
      dead: ownName(dead.topic),
      ackDeadlineSeconds: ACK_DEADLINE_SECONDS,
      deliveriesMax: DELIVERIES_MAX,
      retentionSeconds: RETENTION_SECONDS,
    },
    state: {
      family: FAMILY,
      versionsMax: 1,
      tables: Object.fromEntries(ALL_TABLES.map((table) => [table, firstSplits(table)])),
    },
    objects: FOLDERS,
    job: { experiments: dataflowOptions(SOME_JOB).experiments },
    sweeps: { everyMinutes: limits.sweepMs / MINUTE_MS, messages: sweepMessages() },
  };
}

/** By the names of their subscriptions. */
function eventFiles(events: PubsubNames["events"]) {
  const { prefixOf, ...how } = EVENT_FILES;
  const subscriptions = eventTables.map(({ kind }) => {
    const { topic, filesSubscription } = events[kind];
    return [ownName(filesSubscription), { topic: ownName(topic), prefix: prefixOf(kind) }] as const;
  });
  return { subscriptions: Object.fromEntries(subscriptions), ...how, ackDeadlineSeconds: FILES_ACK_DEADLINE_SECONDS };
}

const SOME_JOB = { project: "p", region: "r", stagingLocation: "gs://b/s", tempLocation: "gs://b/t" };

/** `projects/p/topics/crawl-host`: host. */
function ownName(topic: string): string {
  return topic.slice(topic.indexOf("crawl-") + "crawl-".length);
}

/** One for each shard, base64, as a topic takes it. */
function sweepMessages(): string[] {
  const shards = Array.from({ length: limits.sweepShards }, (_, shard) => encode(hostQueueMessage, { kind: "sweep", shard }));
  return shards.map((body) => Buffer.from(body).toString("base64"));
}

if (import.meta.main) writeFileSync(NAMES_FILE, namesFile());
