output "accounts" {
  description = "The address of each account, by its role; known when its rights are given."
  value       = { for name, account in google_service_account.this : name => account.email }

  depends_on = [
    google_artifact_registry_repository_iam_member.reader,
    google_bigquery_dataset_iam_member.reader,
    google_bigtable_table_iam_member.user,
    google_project_iam_member.this,
    google_pubsub_subscription_iam_member.subscriber,
    google_pubsub_subscription_iam_member.viewer,
    google_pubsub_topic_iam_member.publisher,
    google_service_account_iam_member.launches,
    google_storage_bucket_iam_member.crawl,
    google_storage_bucket_iam_member.staged,
    google_storage_bucket_iam_member.staging,
  ]
}
