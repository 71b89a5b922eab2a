output "app_profile" {
  description = "The app profile of the crawl: --app-profile of the commands."
  value       = google_bigtable_app_profile.crawl.app_profile_id
}

output "instance" {
  description = "The instance: --instance of the commands."
  value       = google_bigtable_instance.this.name
}

output "tables" {
  description = "The names of the tables, by their names in the crawl."
  value       = { for name, table in google_bigtable_table.this : name => table.name }
}
