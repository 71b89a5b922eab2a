# What runs: the streaming job from its template, the daily job, and two schedules: the sweep that finds what was lost, and the day's start.

locals {
  names    = jsondecode(file("${path.module}/../../generated/names.json"))
  job_name = "crawl-${var.crawl}-${var.compatibility_id}"
  ways     = var.address_per_worker ? "WORKER_IP_PUBLIC" : "WORKER_IP_PRIVATE"

  # In its own process, or as jobs of Dataflow that it launches and waits for.
  launches = var.daily_engine == "dataflow"
  # As whom: the work needs the keeper's rights, launching the launcher's, and neither those of the other.
  daily_account = local.launches ? var.launcher : var.keeper
  # The day is not among them: it is yesterday's, whenever it runs.
  daily_arguments = concat(
    ["daily", "--stores", "cloud", "--project", var.project, "--instance", var.instance, "--bucket", var.bucket, "--crawl", var.crawl],
    ["--app-profile", var.app_profile, "--engine", var.daily_engine],
    local.launches ? ["--image", var.daily_worker_image, "--region", var.region, "--service-account", var.keeper] : [],
    local.launches ? ["--subnetwork", var.subnetwork, "--public-ips", "false"] : [],
    local.launches ? ["--machine-type", var.machine_type, "--max-workers", tostring(var.workers_max)] : [],
  )
  # Where it launches it waits, beside Beam's job service; where it works itself all else is on it, and what it spills is memory, too.
  daily_limits = local.launches ? { cpu = "1", memory = "2Gi" } : { cpu = "2", memory = "4Gi" }
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

# One task. A run that was cut off is done again and goes on where it was: twice, then a person should look.
resource "google_cloud_run_v2_job" "daily" {
  count = var.daily_image == "" ? 0 : 1

  project             = var.project
  location            = var.region
  name                = "${var.crawl}-daily"
  labels              = var.labels
  deletion_protection = false

  template {
    task_count  = 1
    parallelism = 1
    labels      = var.labels

    template {
      service_account = local.daily_account
      max_retries     = 2
      timeout         = "${20 * 60 * 60}s"

      containers {
        image = var.daily_image
        args  = local.daily_arguments

        resources {
          limits = local.daily_limits
        }
      }
    }
  }
}

# Who may start it, as it stands and with no other arguments: the schedule, and people who act as the operator.
resource "google_cloud_run_v2_job_iam_member" "daily" {
  for_each = var.daily_image == "" ? {} : { ticker = var.ticker, operator = var.operator }

  project  = var.project
  location = var.region
  name     = google_cloud_run_v2_job.daily[0].name
  role     = "roles/run.invoker"
  member   = "serviceAccount:${each.value}"
}

resource "google_cloud_scheduler_job" "daily" {
  count = var.daily_image == "" ? 0 : 1

  project          = var.project
  region           = var.region
  name             = "${var.crawl}-daily"
  description      = "Starts the daily job."
  schedule         = var.daily_schedule
  time_zone        = "Etc/UTC"
  attempt_deadline = "60s"

  retry_config {
    retry_count = 3
  }

  http_target {
    http_method = "POST"
    uri         = "https://run.googleapis.com/v2/projects/${var.project}/locations/${var.region}/jobs/${google_cloud_run_v2_job.daily[0].name}:run"

    oauth_token {
      service_account_email = var.ticker
    }
  }
}
