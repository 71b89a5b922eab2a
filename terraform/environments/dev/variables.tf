variable "address_per_worker" {
  description = "Whether each worker has a public address of its own and no NAT stands before it; nothing is let in either way."
  type        = bool
  default     = false
}

variable "analysts" {
  description = "Who may ask the dataset: group:… and user:… members."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for member in var.analysts : can(regex("^(group|user):[^@]+@[^@]+$", member))])
    error_message = "group:… or user:… members; nobody else, and not everybody."
  }
}

variable "billing_account" {
  description = "Who pays, for the alert on cost: 0A1B2C-3D4E5F-678901. Empty: no such alert."
  type        = string
  default     = ""

  validation {
    condition     = var.billing_account == "" || can(regex("^[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}$", var.billing_account))
    error_message = "Three groups of six digits, or nothing."
  }
}

variable "budget" {
  description = "What a month may cost, in whole units of the billing account's currency."
  type        = number
  default     = 1000

  validation {
    condition     = var.budget >= 1 && floor(var.budget) == var.budget
    error_message = "1 at least."
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
  default     = "gleaner"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,19}[a-z0-9]$", var.crawl)) && !startswith(var.crawl, "goog")
    error_message = "6 to 21 lower-case letters, digits and hyphens, a letter first, no hyphen last, and not \"goog\" at the beginning: it is the instance's name as well, and an account's name has 30 characters at most, and the longest of ours takes 9."
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

variable "emails" {
  description = "Who is told of alerts."
  type        = list(string)

  validation {
    condition     = alltrue([for email in var.emails : can(regex("^[^@ ]+@[^@ ]+[.][a-z]+$", email))])
    error_message = "Mail addresses."
  }
}

variable "fetches_per_day" {
  description = "How large the crawl is: a size of ../sizes.json."
  type        = number
  default     = 1000000

  validation {
    condition     = contains(keys(local.plan.sizes), tostring(var.fetches_per_day))
    error_message = "One of the sizes of ../sizes.json: 1000000, 100000000 or 1000000000."
  }
}

variable "operators" {
  description = "Who may act as the operator: group:… and user:… members."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for member in var.operators : can(regex("^(group|user):[^@]+@[^@]+$", member))])
    error_message = "group:… or user:… members; nobody else, and not everybody."
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

variable "template" {
  description = "The template of the streaming job: gs://…, which crawl --template wrote. Empty: no job yet, and no sweeps."
  type        = string
  default     = ""

  validation {
    condition     = var.template == "" || can(regex("^gs://[^/]+/.+$", var.template))
    error_message = "gs://BUCKET/PATH, or nothing."
  }
}

variable "zone" {
  description = "The zone of the only cluster, in the region of the workers."
  type        = string

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]{1,2}-[a-f]$", var.zone))
    error_message = "A zone, such as europe-west1-b."
  }
}
