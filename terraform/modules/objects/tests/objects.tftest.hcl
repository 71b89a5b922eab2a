# terraform init && terraform test; nothing of Google is asked.
mock_provider "google" {}

variables {
  project  = "some-project"
  bucket   = "some-bucket"
  labels   = {}
  location = "europe-west1"
}

run "nothing_of_a_crawl_is_deleted_unasked" {
  command = plan

  assert {
    condition     = length([for rule in google_storage_bucket.crawl.lifecycle_rule : rule if one(rule.action).type == "Delete"]) == 1
    error_message = "There is more than the rule for temporary files."
  }

  assert {
    condition     = google_storage_bucket.crawl.public_access_prevention == "enforced" && !google_storage_bucket.crawl.force_destroy
    error_message = "The bucket may be made public, or destroyed with what is in it."
  }
}

run "pages_alone_are_deleted_where_it_was_asked_for" {
  command = plan

  variables {
    pages_deleted_days = 400
  }

  assert {
    condition = alltrue([
      for rule in google_storage_bucket.crawl.lifecycle_rule : contains(["dataflow/temp/", "pages/"], one(one(rule.condition).matches_prefix))
      if one(rule.action).type == "Delete"
    ])
    error_message = "Something else is deleted."
  }
}

run "events_grow_cold_and_stay" {
  command = plan

  assert {
    condition = [
      for rule in google_storage_bucket.crawl.lifecycle_rule : one(rule.action).storage_class
      if try(one(one(rule.condition).matches_prefix), "") == "events/"
    ] == ["NEARLINE", "COLDLINE"]
    error_message = "Events are moved elsewhere, or deleted."
  }
}

run "pages_that_are_deleted_before_they_are_archived" {
  command         = plan
  expect_failures = [var.pages_deleted_days]

  variables {
    pages_deleted_days = 100
  }
}
