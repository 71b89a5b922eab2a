# Who may do what: one account a role, none with a key, each right on the one thing that it is for. test/terraform/rights.ts says why.

locals {
  accounts = {
    worker   = "Workers of the streaming job: fetch, store and publish."
    keeper   = "The daily job where it works itself, its workers, and the compaction: read everything, rewrite what is stored."
    launcher = "Stages a template, begins a crawl, publishes its seeds; the daily job where it launches others."
    ticker   = "The schedules: asks for sweeps, starts the daily job."
    watcher  = "Asks the dataset whether hosts were left alone."
    operator = "Acted as by people: orders about hosts, why a URL is not fetched, drain, logs and metrics."
  }

  # Rights that Google offers on a project only.
  project_roles = {
    worker   = ["roles/dataflow.worker"]
    keeper   = ["roles/dataflow.worker"]
    launcher = ["roles/dataflow.developer"]
    watcher  = ["roles/bigquery.jobUser"]
    operator = ["roles/dataflow.developer", "roles/logging.viewer", "roles/monitoring.viewer"]
  }

  publishers = {
    worker   = ["discover", "host", "reparse", "events-fetch", "events-index", "events-skip", "dead"]
    launcher = ["discover", "host"]
    ticker   = ["host"]
  }

  subscribers = {
    worker = ["discover", "host", "reparse"]
  }

  table_users = ["worker", "keeper", "launcher", "operator"]

  # The worker can create and read, not delete: what is stored outlives a worker that was taken over.
  bucket_roles = {
    worker   = ["roles/storage.objectCreator", "roles/storage.objectViewer"]
    keeper   = ["roles/storage.objectUser"]
    launcher = ["roles/storage.objectViewer"]
    operator = ["roles/storage.objectViewer"]
  }

  staging_roles = {
    worker   = ["roles/storage.objectUser"]
    launcher = ["roles/storage.objectUser"]
  }

  # What the job service stages beside pages and documents, in a folder of its own. The keeper may do so in all of the bucket.
  staged_folder = "dataflow/"
  staged_roles = {
    worker   = ["roles/storage.objectUser"]
    launcher = ["roles/storage.objectUser"]
  }

  dataset_readers = ["watcher"]
  image_readers   = ["worker", "keeper"]

  # As whom a job may run that the first launches.
  launches = {
    launcher = ["worker", "keeper"]
  }

  member = { for name, account in google_service_account.this : name => account.member }
}

resource "google_service_account" "this" {
  for_each = local.accounts

  project      = var.project
  account_id   = "${var.crawl}-${each.key}"
  display_name = "${var.crawl}: ${each.key}"
  description  = each.value
}

resource "google_project_iam_member" "this" {
  for_each = merge([for account, roles in local.project_roles : { for role in roles : "${account} ${role}" => { account = account, role = role } }]...)

  project = var.project
  role    = each.value.role
  member  = local.member[each.value.account]
}

resource "google_pubsub_topic_iam_member" "publisher" {
  for_each = merge([for account, topics in local.publishers : { for topic in topics : "${account} ${topic}" => { account = account, topic = topic } }]...)

  project = var.project
  topic   = var.topics[each.value.topic]
  role    = "roles/pubsub.publisher"
  member  = local.member[each.value.account]
}

resource "google_pubsub_subscription_iam_member" "subscriber" {
  for_each = merge([for account, queues in local.subscribers : { for queue in queues : "${account} ${queue}" => { account = account, queue = queue } }]...)

  project      = var.project
  subscription = var.subscriptions[each.value.queue]
  role         = "roles/pubsub.subscriber"
  member       = local.member[each.value.account]
}

# Dataflow's own read looks at the subscription before it takes messages from it.
resource "google_pubsub_subscription_iam_member" "viewer" {
  for_each = merge([for account, queues in local.subscribers : { for queue in queues : "${account} ${queue}" => { account = account, queue = queue } }]...)

  project      = var.project
  subscription = var.subscriptions[each.value.queue]
  role         = "roles/pubsub.viewer"
  member       = local.member[each.value.account]
}

resource "google_bigtable_table_iam_member" "user" {
  for_each = { for pair in setproduct(local.table_users, keys(var.tables)) : "${pair[0]} ${pair[1]}" => { account = pair[0], table = pair[1] } }

  project       = var.project
  instance_name = var.instance
  table         = var.tables[each.value.table]
  role          = "roles/bigtable.user"
  member        = local.member[each.value.account]
}

resource "google_storage_bucket_iam_member" "crawl" {
  for_each = merge([for account, roles in local.bucket_roles : { for role in roles : "${account} ${role}" => { account = account, role = role } }]...)

  bucket = var.bucket
  role   = each.value.role
  member = local.member[each.value.account]
}

resource "google_storage_bucket_iam_member" "staged" {
  for_each = merge([for account, roles in local.staged_roles : { for role in roles : "${account} ${role}" => { account = account, role = role } }]...)

  bucket = var.bucket
  role   = each.value.role
  member = local.member[each.value.account]

  condition {
    title      = "${var.crawl}-staged"
    expression = "resource.name.startsWith(\"projects/_/buckets/${var.bucket}/objects/${local.staged_folder}\")"
  }
}

resource "google_storage_bucket_iam_member" "staging" {
  for_each = merge([for account, roles in local.staging_roles : { for role in roles : "${account} ${role}" => { account = account, role = role } }]...)

  bucket = var.staging_bucket
  role   = each.value.role
  member = local.member[each.value.account]
}

resource "google_bigquery_dataset_iam_member" "reader" {
  for_each = merge({ for account in local.dataset_readers : account => local.member[account] }, { for analyst in var.analysts : analyst => analyst })

  project    = var.project
  dataset_id = var.dataset
  role       = "roles/bigquery.dataViewer"
  member     = each.value
}

# Who asks pays for it in this project.
resource "google_project_iam_member" "analyst" {
  for_each = toset(var.analysts)

  project = var.project
  role    = "roles/bigquery.jobUser"
  member  = each.value
}

resource "google_artifact_registry_repository_iam_member" "reader" {
  for_each = toset(local.image_readers)

  project    = var.project
  location   = var.repository.location
  repository = var.repository.name
  role       = "roles/artifactregistry.reader"
  member     = local.member[each.value]
}

resource "google_service_account_iam_member" "launches" {
  for_each = merge([for account, targets in local.launches : { for target in targets : "${account} ${target}" => { account = account, target = target } }]...)

  service_account_id = google_service_account.this[each.value.target].name
  role               = "roles/iam.serviceAccountUser"
  member             = local.member[each.value.account]
}

# People act as the operator for an hour at a time, under their own name in the audit log, and hold no key.
resource "google_service_account_iam_member" "operators" {
  for_each = toset(var.operators)

  service_account_id = google_service_account.this["operator"].name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = each.value
}
