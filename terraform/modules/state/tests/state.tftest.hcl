# terraform init && terraform test; nothing of Google is asked.
mock_provider "google" {}

variables {
  project  = "some-project"
  crawl    = "some-crawl"
  instance = "some-crawl"
  labels   = {}
  nodes    = { min = 1, max = 2 }
  zone     = "europe-west1-b"
}

run "nine_protected_tables_in_one_cluster" {
  command = plan

  assert {
    condition     = length(google_bigtable_table.this) == 9 && alltrue([for table in google_bigtable_table.this : table.deletion_protection == "PROTECTED"])
    error_message = "Not nine tables, or one without protection."
  }

  assert {
    condition     = length(google_bigtable_table.this["host_due"].split_keys) == 15
    error_message = "HostDue is not cut by its shards."
  }

  assert {
    condition     = alltrue([for policy in google_bigtable_gc_policy.this : policy.max_version[0].number == 1])
    error_message = "Rows keep more than one cell."
  }

  assert {
    condition     = google_bigtable_app_profile.crawl.single_cluster_routing[0].allow_transactional_writes
    error_message = "The app profile refuses conditional writes."
  }
}

run "fewer_nodes_at_most_than_at_least" {
  command         = plan
  expect_failures = [var.nodes]

  variables {
    nodes = { min = 3, max = 2 }
  }
}
