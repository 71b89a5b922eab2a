import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { judges, projectText } from "./as-the-code.ts";
import { NAMES_FILE, namesFile } from "./generated-names.ts";
import { type Change, changed, plannedCrawl } from "./planned-crawl.ts";
import { rights } from "./rights.ts";

test("the names and numbers that the Terraform reads are those of today's code", () => {
  const written: unknown = JSON.parse(readFileSync(NAMES_FILE, "utf8"));
  assert.deepEqual(written, JSON.parse(namesFile()), "npm exec -- node test/terraform/generated-names.ts writes them anew");
});

for (const environment of ["dev", "prod"] as const)
  test(`${environment} makes what the adapters, the events and the launch use, and gives the rights that they need`, async () => {
    const plan = await plannedCrawl({ environment });
    for (const judge of Object.values(judges)) judge(plan);
  });

const faults: [told: string, judge: keyof typeof judges, change: Change][] = [
  ["a renamed topic", "messaging", { file: "modules/messaging/main.tf", from: 'name    = "', to: 'name    = "my-' }],
  [
    "a topic that is left out",
    "messaging",
    {
      file: "modules/messaging/main.tf",
      from: "for_each = toset(concat(local.names.queues, keys(local.names.events), [local.names.dead]))",
      to: "for_each = toset(concat(local.names.queues, [local.names.dead]))",
    },
  ],
  [
    "a subscription of another topic",
    "messaging",
    {
      file: "modules/messaging/main.tf",
      from: "google_pubsub_topic.this[each.key].id",
      to: 'google_pubsub_topic.this["discover"].id',
    },
  ],
  ["a subscription that expires", "messaging", { file: "modules/messaging/main.tf", from: 'ttl = ""', to: 'ttl = "86400s"' }],
  [
    "another number of deliveries",
    "messaging",
    { file: "modules/messaging/main.tf", from: "local.names.deliveriesMax", to: "5" },
  ],
  [
    "rows that lose unknown fields",
    "messaging",
    { file: "modules/messaging/main.tf", from: "local.rows.dropUnknownFields", to: "true" },
  ],
  [
    "files of events in another folder",
    "messaging",
    {
      file: "modules/messaging/main.tf",
      from: "filename_prefix          = each.value.prefix",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Terraform's
      to: 'filename_prefix          = "my/${each.value.prefix}"',
    },
  ],
  [
    "files of events that end otherwise",
    "messaging",
    {
      file: "modules/messaging/main.tf",
      from: "local.files.suffix",
      to: '".json"',
    },
  ],
  [
    "files of events that are cut by the hour",
    "messaging",
    {
      file: "modules/messaging/main.tf",
      from: "local.files.datetimeFormat",
      to: '"YYYY-MM-DD-hh/mm_ssZ"',
    },
  ],
  [
    "files of events that are no text",
    "messaging",
    {
      file: "modules/messaging/main.tf",
      from: "text_config {}",
      to: "avro_config {}",
    },
  ],
  [
    "files of events in another bucket",
    "messaging",
    {
      file: "environments/prod/main.tf",
      from: "bucket         = module.objects.bucket",
      to: "bucket         = module.objects.staging_bucket",
    },
  ],
  [
    "a deadline that ends before its file does",
    "messaging",
    {
      file: "modules/messaging/main.tf",
      from: "local.files.ackDeadlineSeconds",
      to: "local.names.ackDeadlineSeconds",
    },
  ],
  [
    "a renamed table",
    "records",
    { file: "modules/state/main.tf", from: 'name                = "', to: 'name                = "my-' },
  ],
  [
    "another column family",
    "records",
    { file: "modules/state/main.tf", from: "family = local.names.family", to: 'family = "f"' },
  ],
  [
    "a rule that collects by age",
    "records",
    { file: "modules/state/main.tf", from: "max_version {", to: 'max_age {\n    duration = "24h"\n  }\n\n  max_version {' },
  ],
  [
    "an app profile without conditional writes",
    "records",
    { file: "modules/state/main.tf", from: "allow_transactional_writes = true", to: "allow_transactional_writes = false" },
  ],
  [
    "a dropped column",
    "warehouse",
    {
      file: "modules/warehouse/main.tf",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Terraform's
      from: 'file("${local.schemas}/${each.value.schema}")',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is Terraform's
      to: 'jsonencode([for column in jsondecode(file("${local.schemas}/${each.value.schema}")) : column if column.name != "paceKey"])',
    },
  ],
  ["another order of rows", "warehouse", { file: "modules/warehouse/main.tf", from: "each.value.clustering", to: '["url"]' }],
  [
    "a view of another dataset",
    "warehouse",
    { file: "modules/warehouse/main.tf", from: "dataset = local.qualified }", to: 'dataset = "other" }' },
  ],
  [
    "a rule that deletes all that stands beside pages",
    "objects",
    { file: "modules/objects/main.tf", from: '"dataflow/temp/"', to: '"pages/"' },
  ],
  [
    "metadata that is moved",
    "objects",
    {
      file: "modules/objects/main.tf",
      from: "matches_suffix        = [local.folders.pages.ending]",
      to: 'matches_suffix        = [".json"]',
    },
  ],
  [
    "a bucket that keeps what was deleted",
    "objects",
    { file: "modules/objects/main.tf", from: "retention_duration_seconds = 0", to: "retention_duration_seconds = 604800" },
  ],
  [
    "events that are deleted",
    "objects",
    {
      file: "modules/objects/main.tf",
      from: 'type          = "SetStorageClass"\n      storage_class = "NEARLINE"\n    }\n    condition {\n      age                   = var.events_days',
      to: 'type = "Delete"\n    }\n    condition {\n      age                   = var.events_days',
    },
  ],
  [
    "a right of Pub/Sub's account to read what it wrote",
    "roles",
    {
      file: "modules/messaging/main.tf",
      from: '"roles/storage.objectCreator"',
      to: '"roles/storage.objectUser"',
    },
  ],
  [
    "a start of the daily job by who may change it",
    "roles",
    {
      file: "modules/job/main.tf",
      from: '"roles/run.invoker"',
      to: '"roles/run.developer"',
    },
  ],
  [
    "a keeper who launches jobs",
    "roles",
    {
      file: "modules/identity/main.tf",
      from: 'keeper   = ["roles/dataflow.worker"]',
      to: 'keeper   = ["roles/dataflow.worker", "roles/dataflow.developer"]',
    },
  ],
  [
    "a widened role",
    "roles",
    { file: "modules/identity/main.tf", from: '"roles/storage.objectCreator"', to: '"roles/storage.objectAdmin"' },
  ],
  [
    "a role on the project and not on one thing",
    "roles",
    {
      file: "modules/identity/main.tf",
      from: 'worker   = ["roles/dataflow.worker"]',
      to: 'worker   = ["roles/dataflow.worker", "roles/bigtable.user"]',
    },
  ],
  [
    "a right for one more account",
    "roles",
    { file: "modules/identity/main.tf", from: 'table_users = ["worker"', to: 'table_users = ["watcher", "worker"' },
  ],
  [
    "a right for everybody",
    "roles",
    { file: "modules/messaging/main.tf", from: "member  = local.service_agent", to: 'member  = "allUsers"' },
  ],
  ["a right that was taken away", "roles", { file: "modules/identity/main.tf", from: '"events-index", ', to: "" }],
  ["a job that is cancelled", "job", { file: "modules/job/main.tf", from: '"drain"', to: '"cancel"' }],
  [
    "a job without its experiments",
    "job",
    {
      file: "modules/job/main.tf",
      from: "additional_experiments  = local.names.job.experiments",
      to: "additional_experiments  = []",
    },
  ],
  [
    "a job of another account",
    "job",
    { file: "environments/prod/main.tf", from: 'accounts["worker"]', to: 'accounts["keeper"]' },
  ],
  [
    "a daily job that works as the streaming worker",
    "daily",
    {
      file: "modules/job/main.tf",
      from: "local.launches ? var.launcher : var.keeper",
      to: "var.worker",
    },
  ],
  [
    "a daily job that is never cut off",
    "daily",
    {
      file: "modules/job/main.tf",
      from: "20 * 60 * 60",
      to: "160 * 60 * 60",
    },
  ],
  [
    "a schedule that starts another job",
    "daily",
    {
      file: "modules/job/main.tf",
      from: "google_cloud_run_v2_job.daily[0].name}:run",
      to: "var.crawl}:run",
    },
  ],
  [
    "a schedule of another account",
    "daily",
    {
      file: "environments/prod/main.tf",
      from: 'accounts["ticker"]',
      to: 'accounts["operator"]',
    },
  ],
  [
    "a sweep of half of the shards",
    "schedules",
    { file: "modules/job/main.tf", from: "local.names.sweeps.messages :", to: "slice(local.names.sweeps.messages, 0, 8) :" },
  ],
  [
    "sweeps of another queue",
    "schedules",
    { file: "environments/prod/main.tf", from: 'module.messaging.topics["host"]', to: 'module.messaging.topics["discover"]' },
  ],
];

for (const [told, judge, change] of faults)
  test(`${told} is noticed`, async () => {
    const read = changed(change);
    // Some make a whole that does not fit together any more, which is noticed sooner.
    await assert.rejects(async () => judges[judge](await plannedCrawl({ read })));
  });

test("what an account needs a right for still stands in the code", () => {
  for (const { because, seen } of rights([]))
    if (seen !== undefined)
      assert.ok(projectText(seen.file).includes(seen.text), `${because}: ${seen.file} does not say ${seen.text}`);
});

test("objects grow cold by the endings that the adapters give them", () => {
  const { pages, documents } = (JSON.parse(namesFile()) as { objects: Record<"pages" | "documents", { ending: string }> })
    .objects;
  const named: [file: string, ending: string][] = [
    ["io/objects/gcs/archive.ts", pages.ending],
    ["io/objects/gcs/compact-segments.ts", pages.ending],
    ["io/objects/gcs/lines.ts", documents.ending],
  ];
  for (const [file, ending] of named)
    assert.match(projectText(file), new RegExp(`partNames\\([^)]*, ${JSON.stringify(ending)}\\)`), file);
});

test("events are written where the daily job reads them, and end as the files of a data directory do", () => {
  const { messaging, objects } = JSON.parse(namesFile()) as {
    messaging: { eventFiles: { subscriptions: Record<string, { prefix: string }>; suffix: string; datetimeFormat: string } };
    objects: { events: { folder: string; ending: string } };
  };
  const { subscriptions, suffix, datetimeFormat } = messaging.eventFiles;
  for (const { prefix } of Object.values(subscriptions))
    assert.match(prefix, new RegExp(`^${objects.events.folder}/\\w+/dt=$`));
  assert.equal(objects.events.ending, suffix);
  assert.ok(datetimeFormat.startsWith("YYYY-MM-DD/"), "the day is a folder's name, and no more of it");
  assert.match(projectText("transforms/daily/statistics/read-events.ts"), /files\.list\(`events\/\$\{kind\}\/dt=\$\{day\}`\)/);
  assert.ok(projectText("io/objects/events-files.ts").includes(suffix));
});
