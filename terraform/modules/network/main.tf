# Workers without a way in, and a way out that counts its ports. The address guard of io/http is what keeps private addresses unasked;
# the rules here say so a second time.

locals {
  # How long a port is taken: a fetch of 2.2 s (256 slots at 115 a second, docs/capacity.md), then Cloud NAT's TIME_WAIT. As if all
  # fetches of a worker went to one address, which is the worst: a port serves other addresses meanwhile.
  fetch_seconds     = 2.2
  time_wait_seconds = 120
  ports_needed      = var.fetches_per_worker * (local.fetch_seconds + local.time_wait_seconds)
  ports             = pow(2, ceil(log(local.ports_needed, 2)))

  # Of one address, without the well-known ones.
  ports_of_address = 64512
  nat              = var.address_per_worker ? 0 : 1
  addresses        = local.nat * ceil(var.workers_max / floor(local.ports_of_address / local.ports))

  # RFC 6890: nothing of it is the public web. Google lets a machine always reach its own metadata server, whatever rules say.
  not_public = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
    "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
  ]
}

resource "google_compute_network" "this" {
  #checkov:skip=CKV2_GCP_18:its rules stand below
  project                 = var.project
  name                    = "${var.crawl}-workers"
  auto_create_subnetworks = false
}

resource "google_compute_subnetwork" "this" {
  #checkov:skip=CKV_GCP_76:workers have no IPv6 address
  project       = var.project
  name          = "${var.crawl}-workers"
  region        = var.region
  network       = google_compute_network.this.id
  ip_cidr_range = var.range

  # Google's services are reached by their usual names without a public address, and without the NAT.
  private_ip_google_access = true

  # One flow in a hundred: all of them would be a log as large as the crawl's own events.
  log_config {
    aggregation_interval = "INTERVAL_10_MIN"
    flow_sampling        = 0.01
    metadata             = "EXCLUDE_ALL_METADATA"
  }
}

resource "google_compute_router" "this" {
  count = local.nat

  project = var.project
  name    = "${var.crawl}-workers"
  region  = var.region
  network = google_compute_network.this.id
}

# Stated addresses: a site's owner can be told who asks, and ours do not change when a router is made anew.
resource "google_compute_address" "nat" {
  count = local.addresses

  project      = var.project
  name         = "${var.crawl}-nat-${count.index}"
  region       = var.region
  address_type = "EXTERNAL"
}

resource "google_compute_router_nat" "this" {
  count = local.nat

  project                             = var.project
  name                                = "${var.crawl}-workers"
  region                              = var.region
  router                              = google_compute_router.this[0].name
  nat_ip_allocate_option              = "MANUAL_ONLY"
  nat_ips                             = google_compute_address.nat[*].self_link
  source_subnetwork_ip_ranges_to_nat  = "LIST_OF_SUBNETWORKS"
  min_ports_per_vm                    = local.ports
  enable_dynamic_port_allocation      = false
  enable_endpoint_independent_mapping = false
  tcp_time_wait_timeout_sec           = local.time_wait_seconds

  subnetwork {
    name                    = google_compute_subnetwork.this.id
    source_ip_ranges_to_nat = ["ALL_IP_RANGES"]
  }

  # A port that was not to be had is a fetch that failed for a reason of ours.
  log_config {
    enable = true
    filter = "ERRORS_ONLY"
  }
}

# Workers of one job speak with each other where Streaming Engine does not do it for them; Dataflow's tag is on each.
resource "google_compute_firewall" "workers_in" {
  project       = var.project
  name          = "${var.crawl}-workers-in"
  network       = google_compute_network.this.id
  description   = "Workers of a Dataflow job among themselves; nothing else is let in."
  direction     = "INGRESS"
  priority      = 900
  source_ranges = [var.range]
  target_tags   = ["dataflow"]

  allow {
    protocol = "tcp"
    ports    = ["12345-12346"]
  }
}

resource "google_compute_firewall" "workers_out" {
  project            = var.project
  name               = "${var.crawl}-workers-out"
  network            = google_compute_network.this.id
  description        = "Workers of a Dataflow job among themselves, before private addresses are denied."
  direction          = "EGRESS"
  priority           = 900
  destination_ranges = [var.range]

  allow {
    protocol = "tcp"
    ports    = ["12345-12346"]
  }
}

resource "google_compute_firewall" "not_public" {
  project            = var.project
  name               = "${var.crawl}-deny-not-public"
  network            = google_compute_network.this.id
  description        = "Nothing that is not the public web, whatever a name resolves to."
  direction          = "EGRESS"
  priority           = 1000
  destination_ranges = local.not_public

  deny {
    protocol = "all"
  }

  log_config {
    metadata = "INCLUDE_ALL_METADATA"
  }
}

# The public web, on the ports that its URLs name, and Google's services. Names are asked of the machine's own metadata server.
resource "google_compute_firewall" "web" {
  project            = var.project
  name               = "${var.crawl}-web"
  network            = google_compute_network.this.id
  description        = "The public web and Google's services."
  direction          = "EGRESS"
  priority           = 2000
  destination_ranges = ["0.0.0.0/0"]

  allow {
    protocol = "tcp"
  }
}

resource "google_compute_firewall" "rest" {
  project            = var.project
  name               = "${var.crawl}-deny-rest"
  network            = google_compute_network.this.id
  description        = "No other protocol: a crawl speaks TCP."
  direction          = "EGRESS"
  priority           = 3000
  destination_ranges = ["0.0.0.0/0"]

  deny {
    protocol = "all"
  }
}
