# The queues, the events and where messages go that nobody can take: as `npm run set-up` would make them.

locals {
  names         = jsondecode(file("${path.module}/../../generated/names.json")).messaging
  rows          = jsondecode(file("${path.module}/../../../schemas/tables/tables.json")).subscription
  files         = local.names.eventFiles
  service_agent = "serviceAccount:service-${var.project_number}@gcp-sa-pubsub.iam.gserviceaccount.com"
}

resource "google_pubsub_topic" "this" {
  #checkov:skip=CKV_GCP_83:messages hold what the public web says, and no secret; Google's own key encrypts them
  for_each = toset(concat(local.names.queues, keys(local.names.events), [local.names.dead]))

  project = var.project
  name    = "${var.crawl}-${each.key}"
  labels  = var.labels

  message_storage_policy {
    allowed_persistence_regions = var.regions
  }
}

# Workers take messages from these.
resource "google_pubsub_subscription" "queue" {
  for_each = toset(local.names.queues)

  project                    = var.project
  name                       = "${var.crawl}-${each.key}"
  topic                      = google_pubsub_topic.this[each.key].id
  labels                     = var.labels
  ack_deadline_seconds       = local.names.ackDeadlineSeconds
  message_retention_duration = "${local.names.retentionSeconds}s"
  enable_message_ordering    = false

  dead_letter_policy {
    dead_letter_topic     = google_pubsub_topic.this[local.names.dead].id
    max_delivery_attempts = local.names.deliveriesMax
  }

  # Never, however long a crawl rests.
  expiration_policy {
    ttl = ""
  }
}

# BigQuery's own: a message is a row, with no code in between.
resource "google_pubsub_subscription" "event" {
  for_each = local.names.events

  project                    = var.project
  name                       = "${var.crawl}-${each.key}"
  topic                      = google_pubsub_topic.this[each.key].id
  labels                     = var.labels
  ack_deadline_seconds       = local.names.ackDeadlineSeconds
  message_retention_duration = "${local.names.retentionSeconds}s"
  enable_message_ordering    = false

  bigquery_config {
    table               = var.event_tables[each.value]
    use_table_schema    = local.rows.useTableSchema
    use_topic_schema    = local.rows.useTopicSchema
    write_metadata      = local.rows.writeMetadata
    drop_unknown_fields = local.rows.dropUnknownFields
  }

  dead_letter_policy {
    dead_letter_topic     = google_pubsub_topic.this[local.names.dead].id
    max_delivery_attempts = local.names.deliveriesMax
  }

  expiration_policy {
    ttl = ""
  }
}

# And files, which the daily job reads: each event once more, as a line in the crawl's bucket. The deadline is as long as a file is open.
resource "google_pubsub_subscription" "file" {
  for_each = local.files.subscriptions

  project                    = var.project
  name                       = "${var.crawl}-${each.key}"
  topic                      = google_pubsub_topic.this[each.value.topic].id
  labels                     = var.labels
  ack_deadline_seconds       = local.files.ackDeadlineSeconds
  message_retention_duration = "${local.names.retentionSeconds}s"
  enable_message_ordering    = false

  cloud_storage_config {
    bucket                   = var.bucket
    filename_prefix          = each.value.prefix
    filename_suffix          = local.files.suffix
    filename_datetime_format = local.files.datetimeFormat
    max_bytes                = local.files.bytesMax
    max_duration             = "${local.files.secondsMax}s"

    text_config {}
  }

  dead_letter_policy {
    dead_letter_topic     = google_pubsub_topic.this[local.names.dead].id
    max_delivery_attempts = local.names.deliveriesMax
  }

  expiration_policy {
    ttl = ""
  }

  # Pub/Sub looks whether it may write there, and makes no subscription where it may not.
  depends_on = [google_storage_bucket_iam_member.event_files]
}

# What failed too often waits here to be looked at. It has no dead letters of its own.
resource "google_pubsub_subscription" "dead" {
  project                    = var.project
  name                       = "${var.crawl}-${local.names.dead}"
  topic                      = google_pubsub_topic.this[local.names.dead].id
  labels                     = var.labels
  ack_deadline_seconds       = local.names.ackDeadlineSeconds
  message_retention_duration = "${local.names.retentionSeconds}s"
  enable_message_ordering    = false

  expiration_policy {
    ttl = ""
  }
}

# Without these two rights Pub/Sub's own account moves nothing to the dead letters, and says so nowhere.
resource "google_pubsub_topic_iam_member" "dead_letters" {
  project = var.project
  topic   = google_pubsub_topic.this[local.names.dead].id
  role    = "roles/pubsub.publisher"
  member  = local.service_agent
}

resource "google_pubsub_subscription_iam_member" "dead_letters" {
  for_each = merge(google_pubsub_subscription.queue, google_pubsub_subscription.event, google_pubsub_subscription.file)

  project      = var.project
  subscription = each.value.id
  role         = "roles/pubsub.subscriber"
  member       = local.service_agent
}

# Its files are new ones each time: it may create objects and look at the bucket, neither read nor delete. On the whole bucket, as it asks for
# these rights before it knows a name.
resource "google_storage_bucket_iam_member" "event_files" {
  for_each = toset(["roles/storage.legacyBucketReader", "roles/storage.objectCreator"])

  bucket = var.bucket
  role   = each.key
  member = local.service_agent
}
