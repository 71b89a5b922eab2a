# What runs: the streaming job from its template, and two schedules, the sweep that finds what was lost and the daily job.

locals {
  names    = jsondecode(file("${path.module}/../../generated/names.json"))
  job_name = "crawl-${var.crawl}-${var.compatibility_id}"
  ways     = var.address_per_worker ? "WORKER_IP_PUBLIC" : "WORKER_IP_PRIVATE"
  daily_launch = {
    jobName = "daily-${var.crawl}"
    environment = {
      additionalExperiments = local.names.job.experiments
      additionalUserLabels  = var.labels
      ipConfiguration       = "WORKER_IP_PRIVATE"
      machineType           = var.machine_type
      maxWorkers            = var.workers_max
      serviceAccountEmail   = var.keeper
      subnetwork            = var.subnetwork
      tempLocation          = var.temporary_location
    }
  }
}

# A new template, or other settings, update the running job in its place; another name drains it and begins a new one, which loses
# nothing: the stores are the truth.
resource "google_dataflow_job" "crawl" {
  #checkov:skip=CKV_GCP_90:a job's state holds what the public web says, and no secret; Google's own key encrypts it
  #checkov:skip=CKV_GCP_94:workers have private addresses unless address_per_worker says otherwise; nothing is let in either way
  count = var.template == "" ? 0 : 1

  project                 = var.project
  name                    = local.job_name
  region                  = var.region
  template_gcs_path       = var.template
  temp_gcs_location       = var.temporary_location
  labels                  = var.labels
  service_account_email   = var.worker
  subnetwork              = var.subnetwork
  ip_configuration        = local.ways
  machine_type            = var.machine_type
  max_workers             = var.workers_max
  enable_streaming_engine = true
  additional_experiments  = local.names.job.experiments
  transform_name_mapping  = var.renamed
  on_delete               = "drain"
}

# One request asks for the sweeps of all shards. Not as a Pub/Sub target, which Google's own account would publish: this one may no more.
resource "google_cloud_scheduler_job" "sweep" {
  count = var.template == "" ? 0 : 1

  project          = var.project
  region           = var.region
  name             = "${var.crawl}-sweep"
  description      = "Wakes overdue hosts, whatever lost their turn."
  schedule         = "*/${local.names.sweeps.everyMinutes} * * * *"
  time_zone        = "Etc/UTC"
  attempt_deadline = "60s"

  retry_config {
    retry_count = 3
  }

  http_target {
    http_method = "POST"
    uri         = "https://pubsub.googleapis.com/v1/${var.host_topic}:publish"
    headers     = { "Content-Type" = "application/json" }
    body        = base64encode(jsonencode({ messages = [for message in local.names.sweeps.messages : { data = message }] }))

    oauth_token {
      service_account_email = var.ticker
    }
  }
}

resource "google_cloud_scheduler_job" "daily" {
  count = var.daily.template == "" ? 0 : 1

  project          = var.project
  region           = var.region
  name             = "${var.crawl}-daily"
  description      = "Launches the daily job from its template."
  schedule         = var.daily.schedule
  time_zone        = "Etc/UTC"
  attempt_deadline = "180s"

  retry_config {
    retry_count = 3
  }

  http_target {
    http_method = "POST"
    uri         = "https://dataflow.googleapis.com/v1b3/projects/${var.project}/locations/${var.region}/templates:launch?gcsPath=${urlencode(var.daily.template)}"
    headers     = { "Content-Type" = "application/json" }
    body        = base64encode(jsonencode(local.daily_launch))

    oauth_token {
      service_account_email = var.ticker
    }
  }
}
