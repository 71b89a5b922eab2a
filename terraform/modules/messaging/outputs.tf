output "queue_subscriptions" {
  description = "The full names of the queues' subscriptions, by queue."
  value       = { for name, subscription in google_pubsub_subscription.queue : name => subscription.id }
}

output "subscription_names" {
  description = "The names, without path, of all subscriptions, by their names in the crawl."
  value = merge(
    { for name, subscription in google_pubsub_subscription.queue : name => subscription.name },
    { for name, subscription in google_pubsub_subscription.event : name => subscription.name },
    { for name, subscription in google_pubsub_subscription.file : name => subscription.name },
    { (local.names.dead) = google_pubsub_subscription.dead.name },
  )
}

output "topics" {
  description = "The full names of all topics, by their names in the crawl."
  value       = { for name, topic in google_pubsub_topic.this : name => topic.id }
}
