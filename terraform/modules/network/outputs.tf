output "addresses" {
  description = "The addresses that sites see; none where each worker has its own."
  value       = google_compute_address.nat[*].address
}

output "ports" {
  description = "The ports of the NAT that a worker has."
  value       = local.ports
}

output "subnetwork" {
  description = "The workers' subnetwork, as Dataflow wants it: regions/REGION/subnetworks/NAME."
  value       = "regions/${var.region}/subnetworks/${google_compute_subnetwork.this.name}"
}
