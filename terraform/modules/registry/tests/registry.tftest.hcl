# terraform init && terraform test; nothing of Google is asked.
mock_provider "google" {}

variables {
  project = "some-project"
  crawl   = "some-crawl"
  labels  = {}
  region  = "europe-west1"
}

run "tags_are_given_once" {
  command = plan

  assert {
    condition     = google_artifact_registry_repository.this.docker_config[0].immutable_tags
    error_message = "A tag can be moved to another image."
  }

  assert {
    condition     = output.image == "europe-west1-docker.pkg.dev/some-project/some-crawl/worker"
    error_message = "The image is called otherwise."
  }
}
