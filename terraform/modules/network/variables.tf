variable "address_per_worker" {
  description = "Whether each worker has a public address of its own and no NAT stands before it; nothing is let in either way."
  type        = bool
  default     = false
}

variable "crawl" {
  description = "What the names of tables, topics, subscriptions and accounts begin with: --crawl of the commands."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,19}[a-z0-9]$", var.crawl)) && !startswith(var.crawl, "goog")
    error_message = "2 to 21 lower-case letters, digits and hyphens, a letter first, no hyphen last, and not \"goog\" at the beginning: an account's name has 30 characters at most, and the longest of ours takes 9."
  }
}

variable "fetches_per_worker" {
  description = "How many requests a second one worker begins at most (docs/capacity.md)."
  type        = number

  validation {
    condition     = var.fetches_per_worker >= 1 && var.fetches_per_worker <= 500 && floor(var.fetches_per_worker) == var.fetches_per_worker
    error_message = "1 to 500."
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

variable "range" {
  description = "The private addresses of the workers."
  type        = string
  default     = "10.20.0.0/20"

  validation {
    condition     = can(cidrnetmask(var.range)) && startswith(var.range, "10.")
    error_message = "A part of 10.0.0.0/8, such as 10.20.0.0/20."
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

variable "workers_max" {
  description = "How many workers there are at most."
  type        = number

  validation {
    condition     = var.workers_max >= 1 && var.workers_max <= 1000 && floor(var.workers_max) == var.workers_max
    error_message = "1 to 1,000, the most that Dataflow gives a job."
  }
}
