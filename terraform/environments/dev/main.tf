# Wiring of dev: which module is given what of which other. Numbers come from ../sizes.json by fetches_per_day.

locals {
  plan    = jsondecode(file("${path.module}/../sizes.json"))
  size    = local.plan.sizes[tostring(var.fetches_per_day)]
  bucket  = "${var.project}-${var.crawl}"
  dataset = replace(var.crawl, "-", "_")
  labels  = { crawl = var.crawl, environment = "dev" }
}

data "google_project" "this" {
  project_id = var.project
}

module "warehouse" {
  source = "../../modules/warehouse"

  crawl               = var.crawl
  dataset             = local.dataset
  deletion_protection = false
  labels              = local.labels
  location            = var.region
  project             = var.project
  project_number      = data.google_project.this.number
}

module "messaging" {
  source = "../../modules/messaging"

  bucket         = module.objects.bucket
  crawl          = var.crawl
  event_tables   = module.warehouse.event_tables
  labels         = local.labels
  project        = var.project
  project_number = data.google_project.this.number
  regions        = [var.region]
}

module "state" {
  source = "../../modules/state"

  crawl               = var.crawl
  deletion_protection = false
  instance            = var.crawl
  labels              = local.labels
  nodes               = local.size.bigtableNodes
  project             = var.project
  zone                = var.zone
}

module "objects" {
  source = "../../modules/objects"

  bucket              = local.bucket
  deletion_protection = false
  labels              = local.labels
  location            = var.region
  project             = var.project
}

module "registry" {
  source = "../../modules/registry"

  crawl   = var.crawl
  labels  = local.labels
  project = var.project
  region  = var.region
}

module "network" {
  source = "../../modules/network"

  address_per_worker = var.address_per_worker
  crawl              = var.crawl
  fetches_per_worker = local.plan.figures.fetchesPerWorker.value
  project            = var.project
  region             = var.region
  workers_max        = local.size.workersMax
}

module "identity" {
  source = "../../modules/identity"

  analysts       = var.analysts
  bucket         = module.objects.bucket
  crawl          = var.crawl
  dataset        = module.warehouse.dataset
  instance       = module.state.instance
  operators      = var.operators
  project        = var.project
  repository     = module.registry.repository
  staging_bucket = module.objects.staging_bucket
  subscriptions  = module.messaging.queue_subscriptions
  tables         = module.state.tables
  topics         = module.messaging.topics
}

module "job" {
  source = "../../modules/job"

  address_per_worker = var.address_per_worker
  app_profile        = module.state.app_profile
  bucket             = module.objects.bucket
  compatibility_id   = var.compatibility_id
  crawl              = var.crawl
  daily_engine       = var.daily_engine
  daily_image        = var.daily_image
  daily_schedule     = var.daily_schedule
  daily_worker_image = var.daily_worker_image
  host_topic         = module.messaging.topics["host"]
  instance           = module.state.instance
  keeper             = module.identity.accounts["keeper"]
  labels             = local.labels
  launcher           = module.identity.accounts["launcher"]
  machine_type       = local.size.machineType
  operator           = module.identity.accounts["operator"]
  project            = var.project
  region             = var.region
  renamed            = var.renamed
  subnetwork         = module.network.subnetwork
  template           = var.template
  temporary_location = module.objects.temporary_location
  ticker             = module.identity.accounts["ticker"]
  worker             = module.identity.accounts["worker"]
  workers_max        = local.size.workersMax
}

module "watch" {
  source = "../../modules/watch"

  billing_account    = var.billing_account
  budget             = var.budget
  crawl              = var.crawl
  dataset            = module.warehouse.dataset
  emails             = var.emails
  fetches_per_day    = var.fetches_per_day
  instance           = module.state.instance
  job_name           = module.job.job_name
  labels             = local.labels
  location           = var.region
  project            = var.project
  subscription_names = module.messaging.subscription_names
  watcher            = module.identity.accounts["watcher"]
}
