# The events as tables and views: columns from schemas/tables, which the events' own shapes make, and the SQL that is also asked at home.

locals {
  schemas       = "${path.module}/../../../schemas/tables"
  queries       = "${path.module}/../../../tools/queries"
  tables        = { for table in jsondecode(file("${local.schemas}/tables.json")).tables : table.name => table }
  qualified     = "${var.project}.${var.dataset}"
  base_views    = { for file in fileset("${local.queries}/base", "*.sql") : replace(trimsuffix(file, ".sql"), "-", "_") => file }
  views         = { for file in fileset("${local.queries}/views", "*.sql") : replace(trimsuffix(file, ".sql"), "-", "_") => file }
  service_agent = "serviceAccount:service-${var.project_number}@gcp-sa-pubsub.iam.gserviceaccount.com"
}

resource "google_bigquery_dataset" "this" {
  #checkov:skip=CKV_GCP_81:events hold what the public web says, and no secret; Google's own key encrypts them
  project                    = var.project
  dataset_id                 = var.dataset
  location                   = var.location
  labels                     = var.labels
  description                = "What the crawl ${var.crawl} did: docs/analysts.md."
  delete_contents_on_destroy = !var.deletion_protection
}

resource "google_bigquery_table" "event" {
  #checkov:skip=CKV_GCP_80:events hold what the public web says, and no secret; Google's own key encrypts them
  #checkov:skip=CKV_GCP_121:deletion_protection is a variable here, true unless an environment says otherwise
  for_each = local.tables

  project             = var.project
  dataset_id          = google_bigquery_dataset.this.dataset_id
  table_id            = each.key
  description         = each.value.description
  labels              = var.labels
  schema              = file("${local.schemas}/${each.value.schema}")
  clustering          = each.value.clustering
  deletion_protection = var.deletion_protection

  # By arrival: without a field.
  time_partitioning {
    type          = each.value.partition.type
    expiration_ms = var.partition_days == 0 ? null : var.partition_days * 24 * 60 * 60 * 1000
  }
}

# They name tables alone; the others name them, too.
resource "google_bigquery_table" "base_view" {
  #checkov:skip=CKV_GCP_80:a view holds no data
  #checkov:skip=CKV_GCP_121:a view holds no data, and is made again from its file
  for_each = local.base_views

  project             = var.project
  dataset_id          = google_bigquery_dataset.this.dataset_id
  table_id            = each.key
  labels              = var.labels
  deletion_protection = false

  view {
    query          = templatefile("${local.queries}/base/${each.value}", { dataset = local.qualified })
    use_legacy_sql = false
  }

  depends_on = [google_bigquery_table.event]
}

resource "google_bigquery_table" "view" {
  #checkov:skip=CKV_GCP_80:a view holds no data
  #checkov:skip=CKV_GCP_121:a view holds no data, and is made again from its file
  for_each = local.views

  project             = var.project
  dataset_id          = google_bigquery_dataset.this.dataset_id
  table_id            = each.key
  labels              = var.labels
  deletion_protection = false

  view {
    query          = templatefile("${local.queries}/views/${each.value}", { dataset = local.qualified })
    use_legacy_sql = false
  }

  depends_on = [google_bigquery_table.base_view]
}

# Pub/Sub's own account writes the rows.
resource "google_bigquery_table_iam_member" "rows" {
  for_each = google_bigquery_table.event

  project    = var.project
  dataset_id = each.value.dataset_id
  table_id   = each.value.table_id
  role       = "roles/bigquery.dataEditor"
  member     = local.service_agent
}
