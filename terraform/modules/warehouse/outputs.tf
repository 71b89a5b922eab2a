output "dataset" {
  description = "The dataset: --dataset of the commands."
  value       = google_bigquery_dataset.this.dataset_id
}

output "event_tables" {
  description = "Of each table with events the full name, project.dataset.table; known when Pub/Sub may write there."
  value       = { for name, table in google_bigquery_table.event : name => "${local.qualified}.${table.table_id}" }
  depends_on  = [google_bigquery_table_iam_member.rows]
}
