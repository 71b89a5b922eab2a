output "accounts" {
  description = "The address of each account, by its role."
  value       = module.identity.accounts
}

output "addresses" {
  description = "The addresses that sites see; none where each worker has its own."
  value       = module.network.addresses
}

output "command_flags" {
  description = "What every command that works in this environment is given."
  value       = "--project ${var.project} --instance ${module.state.instance} --bucket ${module.objects.bucket} --crawl ${var.crawl} --app-profile ${module.state.app_profile}"
}

output "daily_job" {
  description = "The name of the daily job in Cloud Run; empty where there is none."
  value       = module.job.daily_job
}

output "image" {
  description = "The worker's image without its tag."
  value       = module.registry.image
}

output "launch_flags" {
  description = "What crawl --engine dataflow is given beside the command's flags, the job service's --endpoint, the --image with its tag, and the --template."
  value = join(" ", [
    "--region ${var.region}",
    "--job-name ${module.job.job_name}",
    "--service-account ${module.identity.accounts["worker"]}",
    "--subnetwork ${module.network.subnetwork}",
    "--public-ips ${var.address_per_worker}",
    "--machine-type ${local.size.machineType}",
    "--max-workers ${local.size.workersMax}",
  ])
}

output "launcher_image" {
  description = "The launcher's image without its tag."
  value       = module.registry.launcher_image
}

output "quotas" {
  description = "What the project's quotas must allow in the region: n2 processors (of the streaming and the daily job), static addresses, nodes of Bigtable in the zone."
  value       = local.size.quotas
}

output "set_up_flags" {
  description = "What npm run set-up is given beside the command's flags; it finds everything standing, and writes the version of the tables."
  value       = "--location ${var.region} --dataset ${module.warehouse.dataset}"
}

output "template_location" {
  description = "The folder of templates: gs://BUCKET/PATH."
  value       = module.objects.template_location
}
