# Pages, documents and events, and beside them what is only passing by: templates and temporary files.

locals {
  folders = jsondecode(file("${path.module}/../../generated/names.json")).objects
}

# Indexes (.cdxj), manifests, daily tables and audits have no rule: they stay as they are, and nothing here deletes them.
resource "google_storage_bucket" "crawl" {
  #checkov:skip=CKV_GCP_62:who read what is told by Cloud Audit Logs (data access), not by log objects in one more bucket
  #checkov:skip=CKV_GCP_78:an object is created once and never written over; versions would keep what compaction has taken out, all bytes twice
  project                     = var.project
  name                        = var.bucket
  location                    = var.location
  labels                      = var.labels
  storage_class               = "STANDARD"
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = !var.deletion_protection

  # Compaction deletes each day's small segments once they stand in large ones: kept for a week, they would be paid for twice.
  soft_delete_policy {
    retention_duration_seconds = 0
  }

  # Pages are the most bytes, and read the least: again only to parse anew. So they go first, and at once to where storing is cheap.
  lifecycle_rule {
    action {
      type          = "SetStorageClass"
      storage_class = "COLDLINE"
    }
    condition {
      age                   = var.pages_days.coldline
      matches_prefix        = ["${local.folders.pages.folder}/"]
      matches_suffix        = [local.folders.pages.ending]
      matches_storage_class = ["STANDARD"]
    }
  }

  lifecycle_rule {
    action {
      type          = "SetStorageClass"
      storage_class = "ARCHIVE"
    }
    condition {
      age                   = var.pages_days.archive
      matches_prefix        = ["${local.folders.pages.folder}/"]
      matches_suffix        = [local.folders.pages.ending]
      matches_storage_class = ["COLDLINE"]
    }
  }

  # Documents are read whole whenever an index is built anew: a step later, a step less far.
  lifecycle_rule {
    action {
      type          = "SetStorageClass"
      storage_class = "NEARLINE"
    }
    condition {
      age                   = var.documents_days.nearline
      matches_prefix        = ["${local.folders.documents.folder}/"]
      matches_suffix        = [local.folders.documents.ending]
      matches_storage_class = ["STANDARD"]
    }
  }

  lifecycle_rule {
    action {
      type          = "SetStorageClass"
      storage_class = "COLDLINE"
    }
    condition {
      age                   = var.documents_days.coldline
      matches_prefix        = ["${local.folders.documents.folder}/"]
      matches_suffix        = [local.folders.documents.ending]
      matches_storage_class = ["NEARLINE"]
    }
  }

  # Events are read by the daily job the day after, and are the only copy beside BigQuery's.
  lifecycle_rule {
    action {
      type          = "SetStorageClass"
      storage_class = "NEARLINE"
    }
    condition {
      age                   = var.events_days.nearline
      matches_prefix        = ["${local.folders.events.folder}/"]
      matches_suffix        = [local.folders.events.ending]
      matches_storage_class = ["STANDARD"]
    }
  }

  lifecycle_rule {
    action {
      type          = "SetStorageClass"
      storage_class = "COLDLINE"
    }
    condition {
      age                   = var.events_days.coldline
      matches_prefix        = ["${local.folders.events.folder}/"]
      matches_suffix        = [local.folders.events.ending]
      matches_storage_class = ["NEARLINE"]
    }
  }

  # The only rule that loses anything, and only where someone asked for it: pages can be fetched again, documents stay.
  dynamic "lifecycle_rule" {
    for_each = var.pages_deleted_days == 0 ? [] : [var.pages_deleted_days]
    content {
      action {
        type = "Delete"
      }
      condition {
        age            = lifecycle_rule.value
        matches_prefix = ["${local.folders.pages.folder}/"]
        matches_suffix = [local.folders.pages.ending]
      }
    }
  }

  # What jobs wrote while they ran. Staged pipelines stay: templates name them.
  lifecycle_rule {
    action {
      type = "Delete"
    }
    condition {
      age            = 14
      matches_prefix = ["dataflow/temp/"]
    }
  }

  # Parts of uploads that nobody finished.
  lifecycle_rule {
    action {
      type = "AbortIncompleteMultipartUpload"
    }
    condition {
      age = 7
    }
  }
}

resource "google_storage_bucket" "staging" {
  #checkov:skip=CKV_GCP_62:who read what is told by Cloud Audit Logs (data access), not by log objects in one more bucket
  project                     = var.project
  name                        = "${var.bucket}-staging"
  location                    = var.location
  labels                      = var.labels
  storage_class               = "STANDARD"
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = !var.deletion_protection

  # A template that was written over is what a roll-back launches.
  versioning {
    enabled = true
  }

  soft_delete_policy {
    retention_duration_seconds = 0
  }

  lifecycle_rule {
    action {
      type = "Delete"
    }
    condition {
      age            = 14
      matches_prefix = ["temporary/"]
    }
  }

  lifecycle_rule {
    action {
      type = "Delete"
    }
    condition {
      num_newer_versions = 20
      with_state         = "ARCHIVED"
    }
  }
}
