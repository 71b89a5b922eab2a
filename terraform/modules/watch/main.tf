# What an operator is told, and where to look: alerts, each with what to do first, and one dashboard.

locals {
  # Pub/Sub's measures of one subscription, by the crawl's own name of it.
  subscription = {
    for name, id in var.subscription_names : name => "resource.type = \"pubsub_subscription\" AND resource.labels.subscription_id = \"${id}\""
  }
  job = "resource.type = \"dataflow_job\" AND resource.labels.job_name = \"${var.job_name}\""

  # What the workers count (beam/harness/counters.ts), each a number that rises: `gleaner_fetches_total{kind=page,outcome=fetched}`.
  counter = "dataflow_googleapis_com:job_user_counter{job_name=\"${var.job_name}\",metric_name"
  failed  = "sum(delta(${local.counter}=~\"gleaner_fetches_total.*outcome=(failed|server-error).*\"}[15m]))"
  all     = "sum(delta(${local.counter}=~\"gleaner_fetches_total.*\"}[15m]))"

  oldest      = "metric.type = \"pubsub.googleapis.com/subscription/oldest_unacked_message_age\""
  undelivered = "metric.type = \"pubsub.googleapis.com/subscription/num_undelivered_messages\""

  # Above `above` for `for_seconds`.
  thresholds = {
    "eligible-lag" = {
      filter      = "${local.subscription.host} AND ${local.oldest}"
      above       = 600
      for_seconds = 300
      aligner     = "ALIGN_MAX"
      told        = "Wakes and reports wait for more than ten minutes: due URLs of high priority are late. Look at the job's workers and at Bigtable's load."
    }
    "backlog" = {
      filter      = "${local.subscription.discover} AND ${local.oldest}"
      above       = 300
      for_seconds = 900
      aligner     = "ALIGN_MAX"
      told        = "Discovered URLs wait for more than five minutes (60 s is the aim). A site with very many links passes by itself; else raise the size."
    }
    "parse-backlog" = {
      filter      = "${local.subscription.reparse} AND ${local.oldest}"
      above       = 3600
      for_seconds = 900
      aligner     = "ALIGN_MAX"
      told        = "Pages wait for an hour to be parsed. Fetching goes on; documents come late."
    }
    "dead-letters" = {
      filter      = "${local.subscription.dead} AND ${local.undelivered}"
      above       = 0
      for_seconds = 0
      aligner     = "ALIGN_MAX"
      told        = "A message failed too often, and is kept. Pull it from the dead-letter subscription; its attributes tell where it comes from."
    }
    "event-backlog" = {
      filter      = "resource.type = \"pubsub_subscription\" AND resource.labels.subscription_id = starts_with(\"${var.crawl}-events-\") AND ${local.oldest}"
      above       = 1800
      for_seconds = 900
      aligner     = "ALIGN_MAX"
      told        = "Events do not become rows, or files (subscriptions that end in -files): a table lacks a column that the program writes, or Pub/Sub's account lacks its right on the table or the bucket."
    }
    "job-failed" = {
      filter      = "${local.job} AND metric.type = \"dataflow.googleapis.com/job/is_failed\""
      above       = 0
      for_seconds = 0
      aligner     = "ALIGN_MAX"
      told        = "The job has failed. Nothing is lost; read its last errors, then apply again."
    }
    "job-lag" = {
      filter      = "${local.job} AND metric.type = \"dataflow.googleapis.com/job/system_lag\""
      above       = 600
      for_seconds = 900
      aligner     = "ALIGN_MAX"
      told        = "Something has been on its way through the job for ten minutes. Look for a stage that does not get on."
    }
    "nat-ports" = {
      filter      = "resource.type = \"nat_gateway\" AND resource.labels.gateway_name = \"${var.crawl}-workers\" AND metric.type = \"router.googleapis.com/nat/dropped_sent_packets_count\" AND metric.labels.reason = \"OUT_OF_RESOURCES\""
      above       = 0
      for_seconds = 300
      aligner     = "ALIGN_RATE"
      told        = "Workers find no port at the NAT, and fetches fail by our fault. Raise fetches_per_worker in the network, or give more addresses."
    }
    "store-load" = {
      filter      = "resource.type = \"bigtable_cluster\" AND resource.labels.instance = \"${var.instance}\" AND metric.type = \"bigtable.googleapis.com/cluster/cpu_load\""
      above       = 0.9
      for_seconds = 900
      aligner     = "ALIGN_MEAN"
      told        = "Bigtable is at its most nodes and still loaded: raise the size, or the project's quota of nodes."
    }
    "store-errors" = {
      filter      = "resource.type = \"bigtable_table\" AND resource.labels.instance = \"${var.instance}\" AND metric.type = \"bigtable.googleapis.com/server/error_count\""
      above       = 10
      for_seconds = 300
      aligner     = "ALIGN_RATE"
      told        = "Bigtable answers more than ten calls a second with errors; admits are refused meanwhile, and no host is asked."
    }
  }

  tiles = [for title, query in {
    "Fetches, of what it is sized for: ${var.fetches_per_day} a day" = "sum(delta(${local.counter}=~\"gleaner_fetches_total.*\"}[5m])) / 300"
    "Refusals a second, by reason"                                   = "sum by (metric_name) (delta(${local.counter}=~\"gleaner_refusals_total.*\"}[5m])) / 300"
    "Discovered URLs a second"                                       = "sum(delta(${local.counter}=\"gleaner_urls_discovered_total\"}[5m])) / 300"
    "Share of fetches that failed, 15 minutes"                       = "${local.failed} / ${local.all}"
    "Oldest message, s"                                              = "max by (subscription_id) (pubsub_googleapis_com:subscription_oldest_unacked_message_age{subscription_id=~\"${var.crawl}-.*\"})"
    "Waiting messages"                                               = "sum by (subscription_id) (pubsub_googleapis_com:subscription_num_undelivered_messages{subscription_id=~\"${var.crawl}-.*\"})"
    "Bigtable's load"                                                = "max(bigtable_googleapis_com:cluster_cpu_load{instance=\"${var.instance}\"})"
    "Workers' processors"                                            = "max(dataflow_googleapis_com:job_current_num_vcpus{job_name=\"${var.job_name}\"})"
  } : { title = title, query = query }]
}

resource "google_monitoring_notification_channel" "email" {
  for_each = toset(var.emails)

  project      = var.project
  display_name = "${var.crawl}: ${each.key}"
  type         = "email"
  labels       = { email_address = each.key }
}

resource "google_monitoring_alert_policy" "threshold" {
  for_each = local.thresholds

  project               = var.project
  display_name          = "${var.crawl}: ${each.key}"
  combiner              = "OR"
  notification_channels = [for channel in google_monitoring_notification_channel.email : channel.id]
  user_labels           = var.labels

  conditions {
    display_name = each.key

    condition_threshold {
      filter          = each.value.filter
      comparison      = "COMPARISON_GT"
      threshold_value = each.value.above
      duration        = "${each.value.for_seconds}s"

      aggregations {
        alignment_period   = "60s"
        per_series_aligner = each.value.aligner
      }
    }
  }

  documentation {
    content = each.value.told
  }
}

# A share, of what the workers themselves count: half of all fetches failing is a fault of ours more often than of the web.
resource "google_monitoring_alert_policy" "failures" {
  project               = var.project
  display_name          = "${var.crawl}: fetch-failures"
  combiner              = "OR"
  notification_channels = [for channel in google_monitoring_notification_channel.email : channel.id]
  user_labels           = var.labels

  conditions {
    display_name = "fetch-failures"

    condition_prometheus_query_language {
      query               = "${local.failed} / ${local.all} > 0.5"
      duration            = "900s"
      evaluation_interval = "60s"
    }
  }

  documentation {
    content = "More than half of the fetches fail, or are answered with 5xx: names that do not resolve, no way out, or a host that all URLs are of."
  }
}

# Whether hosts were left alone is judged from the events that were stored, by who did not write them.
resource "google_bigquery_data_transfer_config" "violations" {
  project                = var.project
  location               = var.location
  display_name           = "${var.crawl} violations"
  data_source_id         = "scheduled_query"
  schedule               = "every 6 hours"
  service_account_name   = var.watcher
  destination_dataset_id = null

  params = {
    query = templatefile("${path.module}/violations.sql", { dataset = "${var.project}.${var.dataset}", delay_ms = var.delay_ms })
  }
}

resource "google_monitoring_alert_policy" "violations" {
  project               = var.project
  display_name          = "${var.crawl}: host-policy-violations"
  combiner              = "OR"
  notification_channels = [for channel in google_monitoring_notification_channel.email : channel.id]
  user_labels           = var.labels

  conditions {
    display_name = "host-policy-violations"

    condition_matched_log {
      filter = "resource.type = \"bigquery_dts_config\" AND resource.labels.config_id = \"${reverse(split("/", google_bigquery_data_transfer_config.violations.name))[0]}\" AND severity >= ERROR"
    }
  }

  alert_strategy {
    notification_rate_limit {
      period = "3600s"
    }
  }

  documentation {
    content = "A host was asked again sooner than it was promised, or the query that looks for that failed; the run's error says which. Pause the crawl first (npm run hosts), then look."
  }
}

resource "google_monitoring_dashboard" "this" {
  project = var.project

  dashboard_json = jsonencode({
    displayName = "Crawl ${var.crawl}"
    labels      = { crawl = "" }
    mosaicLayout = {
      columns = 48
      tiles = [for index, tile in local.tiles : {
        xPos   = (index % 2) * 24
        yPos   = floor(index / 2) * 16
        width  = 24
        height = 16
        widget = {
          title = tile.title
          xyChart = {
            dataSets = [{ plotType = "LINE", targetAxis = "Y1", timeSeriesQuery = { prometheusQuery = tile.query } }]
          }
        }
      }]
    }
  })
}

resource "google_billing_budget" "this" {
  count = var.billing_account == "" ? 0 : 1

  billing_account = var.billing_account
  display_name    = "${var.crawl}: a month"

  budget_filter {
    projects = ["projects/${var.project}"]
  }

  amount {
    specified_amount {
      units = tostring(var.budget)
    }
  }

  dynamic "threshold_rules" {
    for_each = [0.5, 0.9, 1.0]
    content {
      threshold_percent = threshold_rules.value
    }
  }

  all_updates_rule {
    monitoring_notification_channels = slice([for channel in google_monitoring_notification_channel.email : channel.id], 0, min(5, length(var.emails)))
  }
}
