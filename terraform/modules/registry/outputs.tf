output "image" {
  description = "The worker's image without its tag: HOST/PROJECT/REPOSITORY/worker."
  value       = "${var.region}-docker.pkg.dev/${var.project}/${google_artifact_registry_repository.this.repository_id}/worker"
}

output "launcher_image" {
  description = "The launcher's image without its tag: HOST/PROJECT/REPOSITORY/launcher."
  value       = "${var.region}-docker.pkg.dev/${var.project}/${google_artifact_registry_repository.this.repository_id}/launcher"
}

output "repository" {
  description = "The repository: its location and name."
  value       = { location = var.region, name = google_artifact_registry_repository.this.repository_id }
}
