# terraform init && terraform test; nothing of Google is asked.
mock_provider "google" {}

variables {
  project        = "some-project"
  crawl          = "some-crawl"
  dataset        = "some_crawl"
  labels         = {}
  location       = "europe-west1"
  project_number = "123"
}

run "three_tables_and_their_views" {
  command = plan

  assert {
    condition     = toset(keys(google_bigquery_table.event)) == toset(["fetch_events", "index_events", "skip_events"])
    error_message = "The tables are not those of the events."
  }

  assert {
    condition     = strcontains(google_bigquery_table.base_view["attempts"].view[0].query, "FROM some-project.some_crawl.fetch_events")
    error_message = "The view of attempts reads elsewhere."
  }

  assert {
    condition     = length(google_bigquery_table.view) > 0 && alltrue([for table in google_bigquery_table.event : table.deletion_protection])
    error_message = "There are no views, or tables without protection."
  }
}

run "a_dataset_that_bigquery_does_not_take" {
  command         = plan
  expect_failures = [var.dataset]

  variables {
    dataset = "some-crawl"
  }
}
