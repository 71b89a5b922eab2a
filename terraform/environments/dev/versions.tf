terraform {
  required_version = ">= 1.9.0"

  # Its bucket is given at terraform init: -backend-config=bucket=…
  backend "gcs" {
    prefix = "gleaner/dev"
  }

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 7.0.0, < 8.0.0"
    }
  }
}

provider "google" {
  project               = var.project
  region                = var.region
  billing_project       = var.project
  user_project_override = true
}
