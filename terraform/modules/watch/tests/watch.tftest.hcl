# terraform init && terraform test; nothing of Google is asked.
mock_provider "google" {}

variables {
  project            = "some-project"
  crawl              = "some-crawl"
  dataset            = "some_crawl"
  emails             = ["somebody@example.org"]
  fetches_per_day    = 1000000
  instance           = "some-crawl"
  job_name           = "crawl-some-crawl-1"
  labels             = {}
  location           = "europe-west1"
  subscription_names = { for name in ["discover", "host", "reparse", "dead"] : name => "some-crawl-${name}" }
  watcher            = "some-crawl-watcher@some-project.iam.gserviceaccount.com"
}

run "alerts_without_a_budget" {
  command = apply

  assert {
    condition     = contains(output.alerts, "some-crawl: host-policy-violations") && length(output.alerts) >= 10
    error_message = "There are alerts missing."
  }

  assert {
    condition     = length(google_billing_budget.this) == 0
    error_message = "There is a budget of nobody's account."
  }
}

run "a_budget" {
  command = plan

  variables {
    billing_account = "0A1B2C-3D4E5F-678901"
  }

  assert {
    condition     = google_billing_budget.this[0].amount[0].specified_amount[0].units == "1000"
    error_message = "The budget is another."
  }
}

run "an_address_that_is_none" {
  command         = plan
  expect_failures = [var.emails]

  variables {
    emails = ["somebody"]
  }
}
