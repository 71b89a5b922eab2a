// Which rights does each account need, and why? The least of Google's roles for what the code calls; the Terraform gives these and no others.

export interface Right {
  /** A role of terraform/modules/identity, or pubsub: Google's own account of Pub/Sub. */
  account: string;
  role: string;
  on: readonly string[];
  because: string;
  /** Where the code does what the right is for; a change there is a reason to look here. */
  seen?: { file: string; text: string };
}

const QUEUES = ["discover", "host", "reparse"] as const;
const EVENTS = ["events-fetch", "events-index", "events-skip"] as const;
const EVENT_FILES = ["events-fetch-files", "events-index-files", "events-skip-files"] as const;

/** `tables`: all of them, by their names in the crawl. */
export function rights(tables: readonly string[]): Right[] {
  return [...ofWorker(tables), ...ofKeeper(tables), ...ofLauncher(tables), ...ofOthers(tables), ...ofPubsub()];
}

function ofWorker(tables: readonly string[]): Right[] {
  const account = "worker";
  return [
    { account, role: "roles/dataflow.worker", on: ["project"], because: "Dataflow's own: work items, logs, metrics" },
    {
      account,
      role: "roles/pubsub.publisher",
      on: topics([...QUEUES, ...EVENTS, "dead"]),
      because: "links, wakes, reports, events; and what nobody can read, to the dead letters",
      seen: { file: "io/queues/pubsub-dead-letters.ts", text: "client.publisher.publish({ topic: names.deadLetter" },
    },
    {
      account,
      role: "roles/pubsub.subscriber",
      on: subscriptions(QUEUES),
      because: "takes, acknowledges and holds messages",
      seen: { file: "io/queues/pubsub-subscription.ts", text: "subscriber.modifyAckDeadline(" },
    },
    {
      account,
      role: "roles/pubsub.viewer",
      on: subscriptions(QUEUES),
      because: "Dataflow's own read looks at the subscription first",
    },
    {
      account,
      role: "roles/bigtable.user",
      on: tables.map((table) => `table ${table}`),
      because: "reads rows and writes them on a condition; no table is made or changed",
      seen: { file: "io/stores/bigtable/calls.ts", text: "checkAndMutate" },
    },
    {
      account,
      role: "roles/storage.objectCreator",
      on: ["bucket"],
      because: "segments, indexes and documents are created, never replaced",
      seen: { file: "io/objects/gcs/named-object.ts", text: "bucket.create(object)" },
    },
    {
      account,
      role: "roles/storage.objectViewer",
      on: ["bucket"],
      because: "a bucket is opened by listing, a page is read to be parsed anew",
      seen: { file: "io/objects/gcs/read-stored.ts", text: "bucket.read(" },
    },
    {
      account,
      role: "roles/storage.objectUser",
      on: ["bucket dataflow/", "staging"],
      because: "what a job stages and writes while it runs",
    },
    { account, role: "roles/artifactregistry.reader", on: ["images"], because: "its image" },
  ];
}

function ofKeeper(tables: readonly string[]): Right[] {
  const account = "keeper";
  return [
    { account, role: "roles/dataflow.worker", on: ["project"], because: "Dataflow's own: work items, logs, metrics" },
    {
      account,
      role: "roles/bigtable.user",
      on: tables.map((table) => `table ${table}`),
      because: "revisit, repair, and where segments lie",
    },
    {
      account,
      role: "roles/storage.objectUser",
      on: ["bucket"],
      because:
        "the daily job replaces and deletes files of its own, compaction small segments; a job's own files lie there, too",
      seen: { file: "io/objects/gcs/day-files.ts", text: "bucket.replace({" },
    },
    { account, role: "roles/artifactregistry.reader", on: ["images"], because: "its image" },
  ];
}

function ofLauncher(tables: readonly string[]): Right[] {
  const account = "launcher";
  return [
    { account, role: "roles/dataflow.developer", on: ["project"], because: "launches, updates and drains jobs" },
    {
      account,
      role: "roles/iam.serviceAccountUser",
      on: ["account worker", "account keeper"],
      because: "their jobs run as these",
    },
    { account, role: "roles/pubsub.publisher", on: topics(["discover", "host"]), because: "seeds, and the first sweeps" },
    {
      account,
      role: "roles/bigtable.user",
      on: tables.map((table) => `table ${table}`),
      because: "writes the crawl's configuration and epoch; the daily job reads the configuration",
    },
    {
      account,
      role: "roles/storage.objectViewer",
      on: ["bucket"],
      because: "a bucket is opened by listing, and what the daily job has closed is read from its manifests",
      seen: { file: "pipelines/daily/run-daily.ts", text: "await jsonFile(files," },
    },
    {
      account,
      role: "roles/storage.objectUser",
      on: ["bucket dataflow/", "staging"],
      because: "stages pipelines and templates",
      seen: { file: "pipelines/engines/engine-job.ts", text: "/dataflow/staging" },
    },
  ];
}

function ofOthers(tables: readonly string[]): Right[] {
  return [
    { account: "ticker", role: "roles/pubsub.publisher", on: topics(["host"]), because: "asks for sweeps" },
    {
      account: "ticker",
      role: "roles/run.invoker",
      on: ["job daily"],
      because: "starts it: run.jobs.run, and no other arguments",
    },
    { account: "operator", role: "roles/run.invoker", on: ["job daily"], because: "starts it by hand" },
    { account: "watcher", role: "roles/bigquery.jobUser", on: ["project"], because: "asks a question" },
    { account: "watcher", role: "roles/bigquery.dataViewer", on: ["dataset"], because: "of these tables" },
    { account: "operator", role: "roles/dataflow.developer", on: ["project"], because: "drains and resizes jobs" },
    { account: "operator", role: "roles/logging.viewer", on: ["project"], because: "reads what workers said" },
    { account: "operator", role: "roles/monitoring.viewer", on: ["project"], because: "reads what workers counted" },
    {
      account: "operator",
      role: "roles/bigtable.user",
      on: tables.map((table) => `table ${table}`),
      because: "orders about hosts stand in the table meta; records are looked at",
      seen: { file: "pipelines/stores/cloud-stores.ts", text: "metaText(store.meta, ORDERS)" },
    },
    {
      account: "operator",
      role: "roles/storage.objectViewer",
      on: ["bucket"],
      because: "inspect and explain read the last events, and their answers name stored pages",
      seen: { file: "pipelines/stores/cloud-reading.ts", text: "readEvents(" },
    },
  ];
}

/** Google documents these of its own account: dead-letter topics, subscriptions of BigQuery and of Cloud Storage. */
function ofPubsub(): Right[] {
  const account = "pubsub";
  return [
    { account, role: "roles/pubsub.publisher", on: topics(["dead"]), because: "moves what failed often to the dead letters" },
    {
      account,
      role: "roles/pubsub.subscriber",
      on: subscriptions([...QUEUES, ...EVENTS, ...EVENT_FILES]),
      because: "and takes it out of where it was",
    },
    {
      account,
      role: "roles/bigquery.dataEditor",
      on: ["fetch_events", "index_events", "skip_events"].map((table) => `rows ${table}`),
      because: "writes events as rows",
    },
    { account, role: "roles/storage.objectCreator", on: ["bucket"], because: "writes events as files" },
    { account, role: "roles/storage.legacyBucketReader", on: ["bucket"], because: "looks at the bucket first" },
  ];
}

function topics(names: readonly string[]): string[] {
  return names.map((name) => `topic ${name}`);
}

function subscriptions(names: readonly string[]): string[] {
  return names.map((name) => `subscription ${name}`);
}
