# The images of the worker, and of the launcher of the daily job. A tag is given once, so that what a template names stays what it was.

resource "google_artifact_registry_repository" "this" {
  #checkov:skip=CKV_GCP_84:images hold public code, and no secret; Google's own key encrypts them
  project       = var.project
  location      = var.region
  repository_id = var.crawl
  format        = "DOCKER"
  description   = "Images of the crawl's worker and launcher."
  labels        = var.labels

  docker_config {
    immutable_tags = true
  }

  cleanup_policies {
    id     = "keep-newest"
    action = "KEEP"

    most_recent_versions {
      keep_count = var.versions_kept
    }
  }

  cleanup_policies {
    id     = "delete-old"
    action = "DELETE"

    condition {
      older_than = "${90 * 24 * 60 * 60}s"
    }
  }
}
