# terraform init && terraform test; nothing of Google is asked.
mock_provider "google" {}

variables {
  project        = "some-project"
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

run "seven_topics_and_subscriptions" {
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
    condition     = length(google_pubsub_subscription_iam_member.dead_letters) == 6
    error_message = "Pub/Sub cannot take dead letters out of every subscription."
  }
}

run "a_name_that_google_keeps_for_itself" {
  command         = plan
  expect_failures = [var.crawl]

  variables {
    crawl = "google-like"
  }
}
