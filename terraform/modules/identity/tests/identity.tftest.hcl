# terraform init && terraform test; nothing of Google is asked.
mock_provider "google" {}

variables {
  project        = "some-project"
  crawl          = "some-crawl"
  bucket         = "some-bucket"
  dataset        = "some_crawl"
  instance       = "some-crawl"
  repository     = { location = "europe-west1", name = "some-crawl" }
  staging_bucket = "some-bucket-staging"
  subscriptions  = { for queue in ["discover", "host", "reparse"] : queue => "projects/some-project/subscriptions/some-crawl-${queue}" }
  tables         = { urls = "some-crawl-urls" }
  topics         = { for name in ["discover", "host", "reparse", "events-fetch", "events-index", "events-skip", "dead"] : name => "projects/some-project/topics/some-crawl-${name}" }
}

run "six_accounts_of_which_the_worker_deletes_nothing" {
  command = plan

  assert {
    condition     = length(google_service_account.this) == 6
    error_message = "Not six accounts."
  }

  assert {
    condition     = toset([for grant in google_storage_bucket_iam_member.crawl : grant.role if startswith(grant.role, "roles/storage.objectUser")]) == toset(["roles/storage.objectUser"]) && !contains(keys(google_storage_bucket_iam_member.crawl), "worker roles/storage.objectUser")
    error_message = "The worker may delete pages."
  }
}

run "everybody_as_an_analyst" {
  command         = plan
  expect_failures = [var.analysts]

  variables {
    analysts = ["allUsers"]
  }
}
