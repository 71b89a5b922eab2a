output "bucket" {
  description = "The bucket of pages and documents: --bucket of the commands."
  value       = google_storage_bucket.crawl.name
}

output "staging_bucket" {
  description = "The bucket of templates and of what a job writes while it runs."
  value       = google_storage_bucket.staging.name
}

output "template_location" {
  description = "The folder of templates: gs://BUCKET/PATH."
  value       = "gs://${google_storage_bucket.staging.name}/templates"
}

output "temporary_location" {
  description = "Where a job writes while it runs: gs://BUCKET/PATH, emptied after two weeks."
  value       = "gs://${google_storage_bucket.staging.name}/temporary"
}
