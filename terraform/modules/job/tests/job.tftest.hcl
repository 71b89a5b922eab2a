# terraform init && terraform test; nothing of Google is asked.
mock_provider "google" {}

variables {
  project            = "some-project"
  app_profile        = "crawl"
  bucket             = "some-bucket"
  crawl              = "some-crawl"
  host_topic         = "projects/some-project/topics/some-crawl-host"
  instance           = "some-crawl"
  keeper             = "some-crawl-keeper@some-project.iam.gserviceaccount.com"
  labels             = {}
  launcher           = "some-crawl-launcher@some-project.iam.gserviceaccount.com"
  machine_type       = "n2-standard-2"
  operator           = "some-crawl-operator@some-project.iam.gserviceaccount.com"
  region             = "europe-west1"
  subnetwork         = "regions/europe-west1/subnetworks/some-crawl-workers"
  temporary_location = "gs://some-bucket-staging/temporary"
  ticker             = "some-crawl-ticker@some-project.iam.gserviceaccount.com"
  worker             = "some-crawl-worker@some-project.iam.gserviceaccount.com"
  workers_max        = 2
}

run "without_a_template_and_an_image_nothing_runs" {
  command = plan

  assert {
    condition     = length(google_dataflow_job.crawl) + length(google_cloud_scheduler_job.sweep) + length(google_cloud_run_v2_job.daily) + length(google_cloud_run_v2_job_iam_member.daily) + length(google_cloud_scheduler_job.daily) == 0
    error_message = "Something runs without a template or an image."
  }
}

run "a_job_that_drains_and_its_sweeps" {
  command = plan

  variables {
    template = "gs://some-bucket-staging/templates/crawl"
  }

  assert {
    condition     = google_dataflow_job.crawl[0].on_delete == "drain" && google_dataflow_job.crawl[0].ip_configuration == "WORKER_IP_PRIVATE"
    error_message = "The job is cancelled, or has public addresses."
  }

  assert {
    condition     = length(jsondecode(base64decode(google_cloud_scheduler_job.sweep[0].http_target[0].body)).messages) == 16
    error_message = "A sweep leaves shards out."
  }
}

run "a_daily_job_that_launches_others" {
  command = plan

  variables {
    daily_image        = "europe-west1-docker.pkg.dev/some-project/some-crawl/launcher:1"
    daily_worker_image = "europe-west1-docker.pkg.dev/some-project/some-crawl/worker:1"
  }

  assert {
    condition     = one(google_cloud_run_v2_job.daily[0].template[0].template).service_account == var.launcher && strcontains(join(" ", google_cloud_run_v2_job.daily[0].template[0].template[0].containers[0].args), "--engine dataflow --image ${var.daily_worker_image} ")
    error_message = "It launches as somebody else, or another image."
  }

  assert {
    condition     = strcontains(join(" ", google_cloud_run_v2_job.daily[0].template[0].template[0].containers[0].args), "--service-account ${var.keeper} ")
    error_message = "Its workers run as somebody else."
  }

  assert {
    condition     = google_cloud_scheduler_job.daily[0].http_target[0].uri == "https://run.googleapis.com/v2/projects/some-project/locations/europe-west1/jobs/some-crawl-daily:run" && google_cloud_scheduler_job.daily[0].http_target[0].oauth_token[0].service_account_email == var.ticker
    error_message = "The schedule starts another job, or as somebody else."
  }

  assert {
    condition     = { for grant in google_cloud_run_v2_job_iam_member.daily : grant.member => grant.role } == { "serviceAccount:${var.ticker}" = "roles/run.invoker", "serviceAccount:${var.operator}" = "roles/run.invoker" }
    error_message = "Others may start it, or these may do more."
  }
}

run "a_daily_job_that_does_the_work" {
  command = plan

  variables {
    daily_engine = "embedded"
    daily_image  = "europe-west1-docker.pkg.dev/some-project/some-crawl/launcher:1"
  }

  assert {
    condition     = google_cloud_run_v2_job.daily[0].template[0].template[0].service_account == var.keeper && reverse(google_cloud_run_v2_job.daily[0].template[0].template[0].containers[0].args)[0] == "embedded"
    error_message = "It runs as somebody else, or is told of workers that it does not have."
  }

  assert {
    condition     = google_cloud_run_v2_job.daily[0].template[0].template[0].containers[0].resources[0].limits == tomap({ cpu = "2", memory = "4Gi" })
    error_message = "It has too little memory or processors for the work."
  }
}

run "a_daily_job_whose_workers_have_no_image" {
  command         = plan
  expect_failures = [var.daily_worker_image]

  variables {
    daily_image = "europe-west1-docker.pkg.dev/some-project/some-crawl/launcher:1"
  }
}

run "an_image_without_a_tag" {
  command         = plan
  expect_failures = [var.daily_image]

  variables {
    daily_engine = "embedded"
    daily_image  = "europe-west1-docker.pkg.dev/some-project/some-crawl/launcher"
  }
}

run "a_daily_job_every_hour" {
  command         = plan
  expect_failures = [var.daily_schedule]

  variables {
    daily_schedule = "20 * * * *"
  }
}

run "a_template_that_is_no_object" {
  command         = plan
  expect_failures = [var.template]

  variables {
    template = "templates/crawl"
  }
}
