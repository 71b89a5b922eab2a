output "daily_job" {
  description = "The name of the daily job in Cloud Run; empty where there is none."
  value       = join("", google_cloud_run_v2_job.daily[*].name)
}

output "job_id" {
  description = "Dataflow's id of the streaming job; empty where there is none."
  value       = join("", google_dataflow_job.crawl[*].job_id)
}

output "job_name" {
  description = "The name of the streaming job: --job-name of the commands."
  value       = local.job_name
}
