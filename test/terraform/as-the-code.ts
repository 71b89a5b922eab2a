// Does the Terraform make what the code uses? One judge a part; each throws where names, numbers, columns, roles or options differ.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dataflowOptions } from "../../beam/portable/dataflow.ts";
import {
  ACK_DEADLINE_SECONDS,
  DELIVERIES_MAX,
  EVENT_FILES,
  FILES_ACK_DEADLINE_SECONDS,
  pubsubNames,
  RETENTION_SECONDS,
} from "../../io/queues/pubsub-names.ts";
import { META_TABLE } from "../../io/stores/bigtable/meta.ts";
import { firstSplits } from "../../io/stores/bigtable/set-up.ts";
import { FAMILY } from "../../io/stores/bigtable/writes.ts";
import { tableNames } from "../../pipelines/worker.ts";
import { decode } from "../../schemas/codec.ts";
import type { EventKind } from "../../schemas/events.ts";
import { limits } from "../../schemas/limits.ts";
import { hostQueueMessage } from "../../schemas/messages.ts";
import { eventTables, tableFiles } from "../../schemas/tables/event-tables.ts";
import { sqlFiles } from "../../tools/lib/stats-database.ts";
import { block, blocks, CRAWL, ofType, only, referred } from "./planned-crawl.ts";
import { rights } from "./rights.ts";
import type { Plan, Planned } from "./terraform-module.ts";

const { project, crawl, dataset } = CRAWL;
const TABLES = [...tableNames, "segments", META_TABLE];
const NAMES = pubsubNames(project, crawl);
const TOPICS_AND_SUBSCRIPTIONS = [...Object.values(NAMES.queues), ...Object.values(NAMES.events), NAMES.dead];
const KINDS = Object.keys(NAMES.events) as EventKind[];
const SUBSCRIPTION_OF_ROWS = (JSON.parse(tableFiles()["tables.json"]!) as { subscription: Record<string, boolean> })
  .subscription;

export const judges = { messaging, records, warehouse, objects, roles, job, daily, schedules };

function messaging(plan: Plan): void {
  const topics = ofType(plan, "google_pubsub_topic");
  assert.deepEqual(
    topics.map(({ name }) => `projects/${project}/topics/${name}`).sort(),
    TOPICS_AND_SUBSCRIPTIONS.map(({ topic }) => topic).sort(),
  );
  const made = ofType(plan, "google_pubsub_subscription").map((subscription) => ({
    name: `projects/${project}/subscriptions/${subscription.name}`,
    topic: `projects/${project}/topics/${referred(plan, subscription.topic).name}`,
    ackDeadlineSeconds: subscription.ack_deadline_seconds,
    retention: subscription.message_retention_duration,
    ordered: subscription.enable_message_ordering,
    expires: block(subscription, "expiration_policy").ttl,
    dead: blocks(subscription, "dead_letter_policy").map((policy) => [
      `projects/${project}/topics/${referred(plan, policy.dead_letter_topic).name}`,
      policy.max_delivery_attempts,
    ]),
    rows: blocks(subscription, "bigquery_config").map((config) => ({ ...config })),
    files: blocks(subscription, "cloud_storage_config").map((config) => ({ ...config })),
  }));
  const tables = new Map(eventTables.map(({ kind, name }) => [NAMES.events[kind].subscription, name]));
  const expected = TOPICS_AND_SUBSCRIPTIONS.map(({ topic, subscription }) => ({
    name: subscription,
    topic,
    ackDeadlineSeconds: ACK_DEADLINE_SECONDS,
    retention: `${RETENTION_SECONDS}s`,
    ordered: false,
    expires: "",
    dead: topic === NAMES.dead.topic ? [] : [[NAMES.dead.topic, DELIVERIES_MAX]],
    rows: tables.has(subscription) ? [rowsInto(tables.get(subscription)!)] : [],
    files: [] as object[],
  }));
  const files = KINDS.map((kind) => ({
    ...expected.find(({ topic }) => topic === NAMES.events[kind].topic)!,
    name: NAMES.events[kind].filesSubscription,
    ackDeadlineSeconds: FILES_ACK_DEADLINE_SECONDS,
    rows: [],
    files: [filesOf(kind)],
  }));
  assert.deepEqual(byName(made), byName([...expected, ...files]));
}

function rowsInto(table: string): Record<string, unknown> {
  return {
    table: `${project}.${dataset}.${table}`,
    use_table_schema: SUBSCRIPTION_OF_ROWS.useTableSchema,
    use_topic_schema: SUBSCRIPTION_OF_ROWS.useTopicSchema,
    write_metadata: SUBSCRIPTION_OF_ROWS.writeMetadata,
    drop_unknown_fields: SUBSCRIPTION_OF_ROWS.dropUnknownFields,
  };
}

/** As the set-up asks for them, in a bucket where the daily job looks. */
function filesOf(kind: EventKind): object {
  return {
    bucket: `${project}-${crawl}`,
    filename_prefix: `events/${kind}/dt=`,
    filename_suffix: ".ndjson",
    filename_datetime_format: "YYYY-MM-DD/hh_mm_ssZ",
    max_bytes: EVENT_FILES.bytesMax,
    max_duration: `${EVENT_FILES.secondsMax}s`,
    text_config: [{}],
  };
}

function records(plan: Plan): void {
  const made = ofType(plan, "google_bigtable_table").map((table) => ({
    name: table.name,
    families: blocks(table, "column_family").map(({ family }) => family),
    splits: table.split_keys,
  }));
  const expected = TABLES.map((table) => ({ name: `${crawl}-${table}`, families: [FAMILY], splits: firstSplits(table) }));
  assert.deepEqual(byName(made), byName(expected));
  const collected = ofType(plan, "google_bigtable_gc_policy").map((policy) => ({
    name: policy.table,
    family: policy.column_family,
    versions: block(policy, "max_version").number,
    others: ["max_age", "mode", "gc_rules"].filter((name) => name in policy),
  }));
  assert.deepEqual(
    byName(collected),
    byName(TABLES.map((table) => ({ name: `${crawl}-${table}`, family: FAMILY, versions: 1, others: [] }))),
  );
  assert.equal(
    blocks(only(plan, "google_bigtable_instance"), "cluster").length,
    1,
    "a second cluster would take conditional writes, too",
  );
  const profile = only(plan, "google_bigtable_app_profile");
  assert.equal(block(profile, "single_cluster_routing").allow_transactional_writes, true);
  assert.ok(!("multi_cluster_routing_use_any" in profile));
}

function warehouse(plan: Plan): void {
  const all = ofType(plan, "google_bigquery_table");
  const tables = all.filter((table) => !("view" in table));
  const made = tables.map((table) => ({
    name: table.table_id,
    columns: JSON.parse(String(table.schema)) as unknown,
    clustering: table.clustering,
    partition: block(table, "time_partitioning").type,
    byColumn: "field" in block(table, "time_partitioning"),
  }));
  const expected = eventTables.map(({ name, columns, clustering, partition }) => ({
    name,
    columns: JSON.parse(JSON.stringify(columns)) as unknown,
    clustering,
    partition: partition.type,
    byColumn: false,
  }));
  assert.deepEqual(byName(made), byName(expected));
  const views = all
    .filter((table) => "view" in table)
    .map((table) => ({ name: table.table_id, sql: block(table, "view").query }));
  const files = [...sqlFiles("base"), ...sqlFiles("views")];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: so do the files name the dataset
  const wanted = files.map(({ name, sql }) => ({ name, sql: sql.replaceAll("${dataset}", `${project}.${dataset}`) }));
  assert.deepEqual(byName(views), byName(wanted));
}

function objects(plan: Plan): void {
  const bucket = only(plan, "google_storage_bucket", ".crawl");
  assert.equal(bucket.name, `${project}-${crawl}`, "what --bucket is by default");
  for (const each of ofType(plan, "google_storage_bucket")) {
    assert.deepEqual(block(each, "soft_delete_policy"), { retention_duration_seconds: 0 });
    assert.deepEqual([each.public_access_prevention, each.uniform_bucket_level_access], ["enforced", true]);
  }
  const moved = blocks(bucket, "lifecycle_rule").map((rule) => ({
    action: spelled((rule.action as Record<string, unknown>[])[0]!),
    condition: (rule.condition as Record<string, unknown>[])[0]!,
  }));
  for (const { action, condition } of moved.filter(({ action }) => action !== "AbortIncompleteMultipartUpload")) {
    const [prefixes, suffixes] = [
      condition.matches_prefix as string[] | undefined,
      condition.matches_suffix as string[] | undefined,
    ];
    const place = `${prefixes?.join()} ${suffixes?.join()}`;
    const ours = ["pages/ .warc.gz", "documents/ .ndjson.gz", "events/ .ndjson"];
    if (action === "Delete") assert.ok(["pages/ .warc.gz", "dataflow/temp/ undefined"].includes(place), `deletes ${place}`);
    else assert.ok(ours.includes(place), `moves ${place}`);
  }
  const inOrder = (place: string) =>
    moved.filter(({ condition }) => (condition.matches_prefix as string[] | undefined)?.[0] === place);
  assert.deepEqual(
    inOrder("pages/").map(({ action }) => action),
    ["SetStorageClass COLDLINE", "SetStorageClass ARCHIVE"],
  );
  for (const place of ["documents/", "events/"])
    assert.deepEqual(
      inOrder(place).map(({ action }) => action),
      ["SetStorageClass NEARLINE", "SetStorageClass COLDLINE"],
    );
}

/** SetStorageClass COLDLINE, or Delete alone. */
function spelled({ type, storage_class: to }: Record<string, unknown>): string {
  return to === undefined ? String(type) : `${type} ${to}`;
}

function roles(plan: Plan): void {
  const given = plan.resources
    .filter(({ at }) => /_iam_\w+\./.test(at))
    .map((grant) => `${holder(grant)} ${grant.role} on ${target(plan, grant)}`);
  const people = [
    "group:analysts@example.org roles/bigquery.jobUser on project",
    "group:analysts@example.org roles/bigquery.dataViewer on dataset",
  ];
  const operator = "user:somebody@example.org roles/iam.serviceAccountTokenCreator on account operator";
  const needed = rights(TABLES).flatMap(({ account, role, on }) => on.map((where) => `${account} ${role} on ${where}`));
  assert.deepEqual(given.sort(), [...needed, ...people, operator].sort());
  assert.deepEqual(ofType(plan, "google_service_account_key"), []);
}

function holder({ at, member }: Planned): string {
  const account = accountOf(String(member).replace(/\.member$|^serviceAccount:/, ""));
  if (account !== undefined) return account;
  if (/^serviceAccount:service-.*@gcp-sa-pubsub\.iam\.gserviceaccount\.com$/.test(String(member))) return "pubsub";
  assert.match(String(member), /^(?:user|group):/, at);
  return String(member);
}

/** The account that is named by its own reference, or by its address. */
function accountOf(reference: unknown): string | undefined {
  return /google_service_account\.this\["(\w+)"\](?:\.email)?$/.exec(String(reference))?.[1];
}

function target(plan: Plan, grant: Planned): string {
  const type = /(google_\w+)_iam_member\./.exec(grant.at)?.[1];
  assert.ok(type !== undefined, `${grant.at}: only single members are given roles, what others were given stays`);
  const bare = (name: unknown) => String(name).slice(crawl.length + 1);
  switch (type) {
    case "google_project":
      return "project";
    case "google_pubsub_topic":
      return `topic ${bare(referred(plan, grant.topic).name)}`;
    case "google_pubsub_subscription":
      return `subscription ${bare(referred(plan, grant.subscription).name)}`;
    case "google_bigtable_table":
      return `table ${bare(grant.table)}`;
    case "google_storage_bucket":
      if (String(grant.bucket).endsWith("-staging")) return "staging";
      return "condition" in grant
        ? `bucket ${/\/objects\/([^"]*)"/.exec(String(block(grant, "condition").expression))?.[1]}`
        : "bucket";
    case "google_bigquery_dataset":
      return "dataset";
    case "google_bigquery_table":
      return `rows ${grant.table_id}`;
    case "google_artifact_registry_repository":
      return "images";
    case "google_cloud_run_v2_job":
      return `job ${bare(grant.name)}`;
    case "google_service_account":
      return `account ${/"(\w+)"/.exec(String(grant.service_account_id))?.[1]}`;
    default:
      return `${type}, which nobody needs a right on`;
  }
}

function job(plan: Plan): void {
  const made = only(plan, "google_dataflow_job");
  const options = dataflowOptions({
    project,
    region: CRAWL.region,
    stagingLocation: "gs://b/s",
    tempLocation: "gs://b/t",
    publicIps: false,
  });
  assert.deepEqual(made.additional_experiments, options.experiments);
  assert.equal(made.ip_configuration, options.usePublicIps === false ? "WORKER_IP_PRIVATE" : "WORKER_IP_PUBLIC");
  assert.deepEqual([made.enable_streaming_engine, made.on_delete, made.name], [true, "drain", `crawl-${crawl}-1`]);
  assert.equal(accountOf(made.service_account_email), "worker");
}

/** What its arguments say is judged by the command that takes them: commands.test.ts. */
function daily(plan: Plan): void {
  const made = only(plan, "google_cloud_run_v2_job");
  const execution = block(made, "template");
  const [task] = execution.template as Record<string, unknown>[];
  assert.deepEqual([execution.task_count, execution.parallelism, task!.timeout], [1, 1, "72000s"]);
  assert.ok(Number(task!.max_retries) <= 2);
  const [container] = task!.containers as Record<string, unknown>[];
  const launches = (container!.args as string[]).includes("dataflow");
  assert.equal(accountOf(task!.service_account), launches ? "launcher" : "keeper");
  assert.deepEqual(container!.resources, [{ limits: launches ? { cpu: "1", memory: "2Gi" } : { cpu: "2", memory: "4Gi" } }]);
  const start = only(plan, "google_cloud_scheduler_job", ".daily[0]");
  const request = block(start, "http_target");
  const [, path, job] = /^https:\/\/run\.googleapis\.com\/v2\/(.*)\/jobs\/(.*):run$/.exec(String(request.uri)) ?? [];
  assert.equal(path, `projects/${project}/locations/${CRAWL.region}`);
  assert.equal(job, made.name);
  assert.equal(request.http_method, "POST");
  assert.equal(accountOf((request.oauth_token as Record<string, unknown>[])[0]!.service_account_email), "ticker");
  assert.match(String(start.schedule), /^\d+ \d+ \* \* \*$/, "once a day");
}

function schedules(plan: Plan): void {
  const sweep = only(plan, "google_cloud_scheduler_job", ".sweep[0]");
  const request = block(sweep, "http_target");
  assert.equal(request.uri, `https://pubsub.googleapis.com/v1/${referred(plan, hostTopic(request.uri)).at}.id:publish`);
  assert.equal(referred(plan, hostTopic(request.uri)).name, `${crawl}-host`);
  const { messages } = JSON.parse(Buffer.from(String(request.body), "base64").toString()) as { messages: { data: string }[] };
  const asked = messages.map(({ data }) => decode(hostQueueMessage, Buffer.from(data, "base64")));
  assert.deepEqual(
    asked,
    Array.from({ length: limits.sweepShards }, (_, shard) => ({ kind: "sweep", shard })),
  );
  assert.equal(sweep.schedule, `*/${limits.sweepMs / 60_000} * * * *`);
}

function hostTopic(uri: unknown): string {
  return /\/v1\/(.*):publish$/.exec(String(uri))?.[1] ?? "";
}

function byName<T extends { name: unknown }>(all: readonly T[]): T[] {
  return all.toSorted((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
}

/** A file of the project. */
export function projectText(path: string): string {
  return readFileSync(join(import.meta.dirname, "../..", path), "utf8");
}
