# The records of a crawl: one instance, one cluster (a conditional write is one only there), the tables that `npm run set-up` would make.

locals {
  names   = jsondecode(file("${path.module}/../../generated/names.json")).state
  cluster = "${var.instance}-${var.zone}"
}

resource "google_bigtable_instance" "this" {
  #checkov:skip=CKV_GCP_122:deletion_protection is a variable here, true unless an environment says otherwise
  #checkov:skip=CKV_GCP_85:records hold what the public web says, and no secret; Google's own key encrypts them
  project             = var.project
  name                = var.instance
  display_name        = var.instance
  labels              = var.labels
  deletion_protection = var.deletion_protection

  cluster {
    cluster_id   = substr(local.cluster, max(0, length(local.cluster) - 30), 30)
    zone         = var.zone
    storage_type = "SSD"

    autoscaling_config {
      min_nodes  = var.nodes.min
      max_nodes  = var.nodes.max
      cpu_target = var.cpu_target
    }
  }
}

# Two clusters to route to would each take a conditional write on its own, and a host be asked twice.
resource "google_bigtable_app_profile" "crawl" {
  project        = var.project
  instance       = google_bigtable_instance.this.name
  app_profile_id = "crawl"
  description    = "One cluster, conditional writes: what the crawl's records rest on."

  single_cluster_routing {
    cluster_id                 = google_bigtable_instance.this.cluster[0].cluster_id
    allow_transactional_writes = true
  }

  ignore_warnings = true
}

resource "google_bigtable_table" "this" {
  for_each = local.names.tables

  project             = var.project
  instance_name       = google_bigtable_instance.this.name
  name                = "${var.crawl}-${each.key}"
  split_keys          = each.value
  deletion_protection = var.deletion_protection ? "PROTECTED" : "UNPROTECTED"

  column_family {
    family = local.names.family
  }

  automated_backup_policy {
    retention_period = "${var.backup_days * 24}h0m0s"
    frequency        = "24h0m0s"
  }

  lifecycle {
    # They are of a new table alone: Bigtable cuts further by itself, and another list here would make the table anew.
    ignore_changes = [split_keys]
  }
}

# One cell is all that a row ever has; the rule removes nothing, and says so to who reads it.
resource "google_bigtable_gc_policy" "this" {
  for_each = google_bigtable_table.this

  project         = var.project
  instance_name   = google_bigtable_instance.this.name
  table           = each.value.name
  column_family   = local.names.family
  deletion_policy = "ABANDON"

  max_version {
    number = local.names.versionsMax
  }
}
