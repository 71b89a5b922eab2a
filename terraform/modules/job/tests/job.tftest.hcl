# terraform init && terraform test; nothing of Google is asked.
mock_provider "google" {}

variables {
  project            = "some-project"
  crawl              = "some-crawl"
  host_topic         = "projects/some-project/topics/some-crawl-host"
  keeper             = "some-crawl-keeper@some-project.iam.gserviceaccount.com"
  labels             = {}
  machine_type       = "n2-standard-2"
  region             = "europe-west1"
  subnetwork         = "regions/europe-west1/subnetworks/some-crawl-workers"
  temporary_location = "gs://some-bucket-staging/temporary"
  ticker             = "some-crawl-ticker@some-project.iam.gserviceaccount.com"
  worker             = "some-crawl-worker@some-project.iam.gserviceaccount.com"
  workers_max        = 2
}

run "without_a_template_nothing_runs" {
  command = plan

  assert {
    condition     = length(google_dataflow_job.crawl) + length(google_cloud_scheduler_job.sweep) + length(google_cloud_scheduler_job.daily) == 0
    error_message = "Something runs without a template."
  }
}

run "a_job_that_drains_and_its_sweeps" {
  command = plan

  variables {
    template = "gs://some-bucket-staging/templates/crawl"
    daily    = { template = "gs://some-bucket-staging/templates/daily", schedule = "20 3 * * *" }
  }

  assert {
    condition     = google_dataflow_job.crawl[0].on_delete == "drain" && google_dataflow_job.crawl[0].ip_configuration == "WORKER_IP_PRIVATE"
    error_message = "The job is cancelled, or has public addresses."
  }

  assert {
    condition     = length(jsondecode(base64decode(google_cloud_scheduler_job.sweep[0].http_target[0].body)).messages) == 16
    error_message = "A sweep leaves shards out."
  }

  assert {
    condition     = jsondecode(base64decode(google_cloud_scheduler_job.daily[0].http_target[0].body)).environment.serviceAccountEmail == var.keeper
    error_message = "The daily job runs as somebody else."
  }
}

run "a_template_that_is_no_object" {
  command         = plan
  expect_failures = [var.template]

  variables {
    template = "templates/crawl"
  }
}
