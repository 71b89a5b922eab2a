output "alerts" {
  description = "The names of the alerts."
  value = sort(concat(
    [for policy in google_monitoring_alert_policy.threshold : policy.display_name],
    [google_monitoring_alert_policy.failures.display_name, google_monitoring_alert_policy.violations.display_name],
  ))
}

output "dashboard" {
  description = "The dashboard's full name."
  value       = google_monitoring_dashboard.this.id
}
