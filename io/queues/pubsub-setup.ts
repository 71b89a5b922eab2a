// Do a crawl's topics and subscriptions stand, as the queues need them? Made or changed where they do not; can be run again.
import type { protos } from "@google-cloud/pubsub";
import { StoreError } from "../../ports/versioned-table.ts";
import type { EventKind } from "../../schemas/events.ts";
import { eventTables } from "../../schemas/tables/event-tables.ts";
import type { PubsubClient } from "./pubsub-client.ts";
import { codeOf, pubsubFault } from "./pubsub-faults.ts";
import {
  ACK_DEADLINE_SECONDS,
  DELIVERIES_MAX,
  EVENT_FILES,
  FILES_ACK_DEADLINE_SECONDS,
  pubsubNames,
  RETENTION_SECONDS,
  RETENTION_SECONDS_EMULATED,
  type TopicAndSubscription,
} from "./pubsub-names.ts";

export interface SetUpPubsubOptions {
  client: PubsubClient;
  /** Of the crawl: what all names begin with. */
  prefix: string;
  /** BigQuery's dataset (of the same project) with the tables of schemas/tables; without one the events wait in subscriptions to be pulled. */
  dataset?: string;
  /** Of Cloud Storage, which stands: events are written into it as files, too. Without one they wait in subscriptions to be pulled. */
  bucket?: string;
  /** Of the queues' subscriptions and those of BigQuery. */
  ackDeadlineSeconds?: number;
  /** 5 to 100. */
  deliveriesMax?: number;
}

/** Full names of what this run made, and of the subscriptions it changed. */
export interface SetUp {
  made: string[];
  changed: string[];
}

type Subscription = protos.google.pubsub.v1.ISubscription;

const ALREADY_EXISTS = 6; // of google.rpc.Code
/** Not found, permission denied, failed precondition. */
const OF_RIGHTS: readonly unknown[] = [5, 7, 9];

/** A message is a row by the table's own columns; what has another field waits for the column, or goes to the dead-letter topic. */
const AS_ROWS = { useTableSchema: true, useTopicSchema: false, writeMetadata: false, dropUnknownFields: false };

/** Rejects with StoreError, final where a subscription of the name reads another topic. */
export async function setUpPubsub(options: SetUpPubsubOptions): Promise<SetUp> {
  const { client, prefix } = options;
  const { queues, events, dead } = pubsubNames(client.project, prefix);
  const done: SetUp = { made: [], changed: [] };
  const setUp = async (names: TopicAndSubscription, more: Subscription): Promise<void> => {
    await topic(client, names.topic, done);
    await subscription(client, { ...lasting(names, options), ...more }, done);
  };
  await setUp(dead, {}); // first: the others refer to it
  const deadLetterPolicy = { deadLetterTopic: dead.topic, maxDeliveryAttempts: options.deliveriesMax ?? DELIVERIES_MAX };
  await Promise.all([
    ...Object.values(queues).map((names) => setUp(names, { deadLetterPolicy })),
    ...eventTables.map(async ({ kind, name }) => {
      const { filesSubscription, ...names } = events[kind];
      await setUp(names, { deadLetterPolicy, ...bigquery(options, name) });
      const files = { topic: names.topic, subscription: filesSubscription };
      const more = { deadLetterPolicy, ackDeadlineSeconds: FILES_ACK_DEADLINE_SECONDS, ...storage(options, kind) };
      await subscription(client, { ...lasting(files, options), ...more }, done);
    }),
  ]);
  return done;
}

function lasting(names: TopicAndSubscription, { client, ackDeadlineSeconds }: SetUpPubsubOptions): Subscription {
  return {
    name: names.subscription,
    topic: names.topic,
    ackDeadlineSeconds: ackDeadlineSeconds ?? ACK_DEADLINE_SECONDS,
    messageRetentionDuration: { seconds: client.emulator ? RETENTION_SECONDS_EMULATED : RETENTION_SECONDS },
    expirationPolicy: {}, // without a time to live: never, however long a crawl rests
    enableMessageOrdering: false,
  };
}

function bigquery({ client, dataset }: SetUpPubsubOptions, table: string): Subscription {
  if (dataset === undefined) return {};
  return { bigqueryConfig: { table: `${client.project}.${dataset}.${table}`, ...AS_ROWS } };
}

function storage({ bucket }: SetUpPubsubOptions, kind: EventKind): Subscription {
  if (bucket === undefined) return {};
  return {
    cloudStorageConfig: {
      bucket,
      filenamePrefix: EVENT_FILES.prefixOf(kind),
      filenameDatetimeFormat: EVENT_FILES.datetimeFormat,
      filenameSuffix: EVENT_FILES.suffix,
      textConfig: {},
      maxDuration: { seconds: EVENT_FILES.secondsMax },
      maxBytes: EVENT_FILES.bytesMax,
    },
  };
}

async function topic({ publisher, project, repeated }: PubsubClient, name: string, done: SetUp): Promise<void> {
  try {
    await publisher.createTopic({ name }, repeated);
    done.made.push(name);
  } catch (error) {
    if (codeOf(error) !== ALREADY_EXISTS) throw pubsubFault(error, { project, topic: name, doing: "set up" });
  }
}

async function subscription(client: PubsubClient, wanted: Subscription, done: SetUp): Promise<void> {
  const name = wanted.name!;
  const { subscriber, project, repeated } = client;
  try {
    await subscriber.createSubscription(wanted, repeated);
    done.made.push(name);
  } catch (error) {
    const asked = { project, subscription: name, doing: "set up" } as const;
    if (codeOf(error) !== ALREADY_EXISTS) throw withRights(pubsubFault(error, asked), wanted);
    try {
      if (await change(client, wanted)) done.changed.push(name);
    } catch (cause) {
      throw withRights(pubsubFault(cause, asked), wanted);
    }
  }
}

/** The service makes no subscription for files where its own account may not write them, which is nobody's fault who asked. */
function withRights(fault: StoreError, { cloudStorageConfig: files }: Subscription): StoreError {
  if (!files?.bucket || !OF_RIGHTS.includes(codeOf(fault.cause))) return fault;
  const line = `${fault.message}; Pub/Sub's own account, service-NUMBER@gcp-sa-pubsub.iam.gserviceaccount.com, needs roles/storage.objectCreator and roles/storage.legacyBucketReader on the bucket ${files.bucket}`;
  return new StoreError(line, { final: fault.final, cause: fault.cause });
}

/** Whether the subscription that stands differed in what can be changed. */
async function change({ subscriber, repeated }: PubsubClient, wanted: Subscription): Promise<boolean> {
  const [stands] = await subscriber.getSubscription({ subscription: wanted.name! }, repeated);
  if (stands.topic !== wanted.topic) throw ofAnotherTopic(wanted.name!, stands.topic ?? "none");
  const paths = [
    stands.ackDeadlineSeconds === wanted.ackDeadlineSeconds ? [] : "ack_deadline_seconds",
    Number(stands.messageRetentionDuration?.seconds) === wanted.messageRetentionDuration?.seconds
      ? []
      : "message_retention_duration",
    sameDeadLetter(stands, wanted) ? [] : "dead_letter_policy",
    (stands.bigqueryConfig?.table ?? "") === (wanted.bigqueryConfig?.table ?? "") ? [] : "bigquery_config",
    filesOf(stands) === filesOf(wanted) ? [] : "cloud_storage_config",
  ].flat();
  if (paths.length === 0) return false;
  await subscriber.updateSubscription({ subscription: wanted, updateMask: { paths } }, repeated);
  return true;
}

function sameDeadLetter({ deadLetterPolicy: a }: Subscription, { deadLetterPolicy: b }: Subscription): boolean {
  return (
    (a?.deadLetterTopic ?? "") === (b?.deadLetterTopic ?? "") && (a?.maxDeliveryAttempts ?? 0) === (b?.maxDeliveryAttempts ?? 0)
  );
}

/** What was asked for, however it is spelled: the service answers with text for numbers, and tells its state besides. */
function filesOf({ cloudStorageConfig: config }: Subscription): string {
  if (!config?.bucket) return "";
  const { bucket, filenamePrefix, filenameDatetimeFormat, filenameSuffix, textConfig, maxDuration, maxBytes } = config;
  const numbers = [maxDuration?.seconds, maxBytes].map((number) => Number(number ?? 0));
  return JSON.stringify([bucket, filenamePrefix, filenameDatetimeFormat, filenameSuffix, Boolean(textConfig), ...numbers]);
}

function ofAnotherTopic(name: string, topic: string): StoreError {
  const line = `${name} reads ${topic}, not this crawl's topic: delete it (gcloud pubsub subscriptions delete), or choose another name for the crawl`;
  return new StoreError(line, { final: true });
}
