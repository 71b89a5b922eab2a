# terraform init && terraform test; nothing of Google is asked.
mock_provider "google" {}

variables {
  project        = "some-project"
  bucket         = "some-bucket"
  crawl          = "some-crawl"
  project_number = "123"
  labels         = { crawl = "some-crawl" }
  regions        = ["europe-west1"]
  event_tables = {
    fetch_events = "some-project.some_crawl.fetch_events"
    index_events = "some-project.some_crawl.index_events"
    skip_events  = "some-project.some_crawl.skip_events"
  }
}

run "seven_topics_and_ten_subscriptions" {
  command = plan

  assert {
    condition     = toset([for topic in google_pubsub_topic.this : topic.name]) == toset([for name in ["discover", "host", "reparse", "events-fetch", "events-index", "events-skip", "dead"] : "some-crawl-${name}"])
    error_message = "The topics are not those of the adapters."
  }

  assert {
    condition     = google_pubsub_subscription.event["events-skip"].bigquery_config[0].table == "some-project.some_crawl.skip_events"
    error_message = "Events of refusals go elsewhere."
  }

  assert {
    condition     = alltrue([for subscription in google_pubsub_subscription.queue : subscription.expiration_policy[0].ttl == ""])
    error_message = "A queue's subscription expires."
  }

  assert {
    condition     = length(google_pubsub_subscription_iam_member.dead_letters) == 9
    error_message = "Pub/Sub cannot take dead letters out of every subscription."
  }
}

run "events_as_files" {
  command = plan

  assert {
    condition = alltrue([
      for kind in ["fetch", "index", "skip"] :
      google_pubsub_subscription.file["events-${kind}-files"].cloud_storage_config[0].filename_prefix == "events/${kind}/dt="
    ]) && alltrue([for subscription in google_pubsub_subscription.file : subscription.cloud_storage_config[0].filename_suffix == ".ndjson"])
    error_message = "Events are written where the daily job does not look."
  }

  assert {
    condition = alltrue([
      for subscription in google_pubsub_subscription.file :
      subscription.ack_deadline_seconds >= tonumber(trimsuffix(subscription.cloud_storage_config[0].max_duration, "s"))
    ])
    error_message = "A deadline ends before its file does, which Pub/Sub refuses."
  }

  assert {
    condition     = toset([for grant in google_storage_bucket_iam_member.event_files : grant.role]) == toset(["roles/storage.legacyBucketReader", "roles/storage.objectCreator"])
    error_message = "Pub/Sub's own account may do more with the bucket than create, or less."
  }
}

run "a_name_that_google_keeps_for_itself" {
  command         = plan
  expect_failures = [var.crawl]

  variables {
    crawl = "google-like"
  }
}
