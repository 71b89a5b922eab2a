# terraform init && terraform test; nothing of Google is asked.
mock_provider "google" {}

variables {
  project            = "some-project"
  crawl              = "some-crawl"
  region             = "europe-west1"
  fetches_per_worker = 115
  workers_max        = 240
}

run "ports_for_25000_fetches_a_second" {
  command = plan

  assert {
    condition     = google_compute_router_nat.this[0].min_ports_per_vm == 16384 && length(google_compute_address.nat) == 80
    error_message = "Not 16,384 ports a worker, or not 80 addresses."
  }

  assert {
    condition     = contains(google_compute_firewall.not_public.destination_ranges, "169.254.0.0/16") && google_compute_firewall.not_public.priority < google_compute_firewall.web.priority
    error_message = "The metadata server's range is not denied before the web is allowed."
  }
}

run "an_address_for_each_worker" {
  command = plan

  variables {
    address_per_worker = true
  }

  assert {
    condition     = length(google_compute_router_nat.this) == 0 && length(google_compute_address.nat) == 0
    error_message = "There is a NAT that nobody needs."
  }
}

run "public_addresses_as_the_workers_own" {
  command         = plan
  expect_failures = [var.range]

  variables {
    range = "8.8.8.0/24"
  }
}
