variable "address_per_worker" {
  description = "Whether each worker has a public address of its own and no NAT stands before it; nothing is let in either way."
  type        = bool
  default     = false
}

variable "app_profile" {
  description = "The app profile of the crawl: --app-profile of the commands."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9_][A-Za-z0-9_.-]{0,49}$", var.app_profile))
    error_message = "1 to 50 letters, digits, underscores, dots and hyphens, no dot or hyphen first."
  }
}

variable "bucket" {
  description = "The bucket of pages and documents: --bucket of the commands."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9._-]{1,53}[a-z0-9]$", var.bucket))
    error_message = "3 to 55 lower-case letters, digits, dots, hyphens and underscores, a letter or digit first and last; 8 more are put after it."
  }
}

variable "compatibility_id" {
  description = "Stands in the job's name. Unchanged, a new template updates the running job; changed, the job is drained and a new one begins."
  type        = string
  default     = "1"

  validation {
    condition     = can(regex("^[a-z0-9]([a-z0-9-]{0,18}[a-z0-9])?$", var.compatibility_id))
    error_message = "1 to 20 lower-case letters, digits and hyphens, no hyphen first or last."
  }
}

variable "crawl" {
  description = "What the names of tables, topics, subscriptions and accounts begin with: --crawl of the commands."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,19}[a-z0-9]$", var.crawl)) && !startswith(var.crawl, "goog")
    error_message = "2 to 21 lower-case letters, digits and hyphens, a letter first, no hyphen last, and not \"goog\" at the beginning: an account's name has 30 characters at most, and the longest of ours takes 9."
  }
}

variable "daily_engine" {
  description = "Where the daily job works: dataflow, as jobs of their own with up to as many workers as the streaming job; or embedded, in its one process."
  type        = string
  default     = "dataflow"

  validation {
    condition     = contains(["dataflow", "embedded"], var.daily_engine)
    error_message = "dataflow, or embedded."
  }
}

variable "daily_image" {
  description = "The launcher's image with its tag, which the daily job runs. Empty: no daily job yet."
  type        = string
  default     = ""

  validation {
    condition     = var.daily_image == "" || can(regex("^[a-z0-9.-]+(/[a-z0-9._-]+)+(:[A-Za-z0-9_][A-Za-z0-9_.-]*|@sha256:[0-9a-f]{64})$", var.daily_image))
    error_message = "HOST/PATH:TAG or HOST/PATH@sha256:DIGEST, or nothing."
  }
}

variable "daily_schedule" {
  description = "When the daily job starts: cron, UTC. A day is taken once it is over, and its last events are files some ten minutes later."
  type        = string
  default     = "20 3 * * *"

  validation {
    condition     = can(regex("^[0-9]{1,2} [0-9]{1,2} [*] [*] [*]$", var.daily_schedule))
    error_message = "MINUTE HOUR * * *: once a day, since each run takes the day before."
  }
}

variable "daily_worker_image" {
  description = "The worker's image with its tag, which the workers of the daily job run. Needed where it launches jobs of Dataflow."
  type        = string
  default     = ""

  validation {
    condition     = (var.daily_worker_image == "" && (var.daily_image == "" || var.daily_engine != "dataflow")) || can(regex("^[a-z0-9.-]+(/[a-z0-9._-]+)+(:[A-Za-z0-9_][A-Za-z0-9_.-]*|@sha256:[0-9a-f]{64})$", var.daily_worker_image))
    error_message = "HOST/PATH:TAG or HOST/PATH@sha256:DIGEST; nothing where there is no daily job, or where it launches none."
  }
}

variable "host_topic" {
  description = "The full name of the host queue's topic."
  type        = string

  validation {
    condition     = can(regex("^projects/[^/]+/topics/[^/]+$", var.host_topic))
    error_message = "projects/PROJECT/topics/NAME."
  }
}

variable "instance" {
  description = "The Bigtable instance: --instance of the commands."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,31}[a-z0-9]$", var.instance))
    error_message = "6 to 33 lower-case letters, digits and hyphens, a letter first, no hyphen last."
  }
}

variable "keeper" {
  description = "The account of the daily job where it works itself, and of its workers."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]@[a-z0-9.-]+$", var.keeper))
    error_message = "An account's address."
  }
}

variable "labels" {
  description = "Labels of everything that can have some; the bill is told by them."
  type        = map(string)

  validation {
    condition     = alltrue([for name, value in var.labels : can(regex("^[a-z][a-z0-9_-]{0,62}$", name)) && can(regex("^[a-z0-9_-]{0,63}$", value))])
    error_message = "Names and values of lower-case letters, digits, underscores and hyphens, 63 at most; names begin with a letter."
  }
}

variable "launcher" {
  description = "The account that launches jobs."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]@[a-z0-9.-]+$", var.launcher))
    error_message = "An account's address."
  }
}

variable "machine_type" {
  description = "Of a worker."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9]*-[a-z]+-[0-9]+$", var.machine_type))
    error_message = "A machine type, such as n2-standard-2."
  }
}

variable "operator" {
  description = "The account that people act as."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]@[a-z0-9.-]+$", var.operator))
    error_message = "An account's address."
  }
}

variable "project" {
  description = "The Google Cloud project."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project))
    error_message = "6 to 30 lower-case letters, digits and hyphens, a letter first, no hyphen last."
  }
}

variable "region" {
  description = "The region of the workers and of all that they use."
  type        = string

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]{1,2}$", var.region))
    error_message = "A region, such as europe-west1."
  }
}

variable "renamed" {
  description = "Of an update: names of transforms that the running job has, to those that the new template has."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for from, to in var.renamed : from != "" && to != ""])
    error_message = "No name is empty."
  }
}

variable "subnetwork" {
  description = "Of the workers, as regions/REGION/subnetworks/NAME."
  type        = string

  validation {
    condition     = can(regex("^regions/[^/]+/subnetworks/[^/]+$", var.subnetwork))
    error_message = "regions/REGION/subnetworks/NAME."
  }
}

variable "template" {
  description = "The template of the streaming job: gs://…, which crawl --template wrote. Empty: no job yet, and no sweeps."
  type        = string
  default     = ""

  validation {
    condition     = var.template == "" || can(regex("^gs://[^/]+/.+$", var.template))
    error_message = "gs://BUCKET/PATH, or nothing."
  }
}

variable "temporary_location" {
  description = "Where a job writes while it runs: gs://BUCKET/PATH."
  type        = string

  validation {
    condition     = can(regex("^gs://[^/]+/.+$", var.temporary_location))
    error_message = "gs://BUCKET/PATH."
  }
}

variable "ticker" {
  description = "The account of the schedules."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]@[a-z0-9.-]+$", var.ticker))
    error_message = "An account's address."
  }
}

variable "worker" {
  description = "The account of the streaming job's workers."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]@[a-z0-9.-]+$", var.worker))
    error_message = "An account's address."
  }
}

variable "workers_max" {
  description = "How many workers there are at most."
  type        = number

  validation {
    condition     = var.workers_max >= 1 && var.workers_max <= 1000 && floor(var.workers_max) == var.workers_max
    error_message = "1 to 1,000, the most that Dataflow gives a job."
  }
}
