variable "analysts" {
  description = "Who may ask the dataset: group:… and user:… members."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for member in var.analysts : can(regex("^(group|user):[^@]+@[^@]+$", member))])
    error_message = "group:… or user:… members; nobody else, and not everybody."
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

variable "crawl" {
  description = "What the names of tables, topics, subscriptions and accounts begin with: --crawl of the commands."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,19}[a-z0-9]$", var.crawl)) && !startswith(var.crawl, "goog")
    error_message = "2 to 21 lower-case letters, digits and hyphens, a letter first, no hyphen last, and not \"goog\" at the beginning: an account's name has 30 characters at most, and the longest of ours takes 9."
  }
}

variable "dataset" {
  description = "The BigQuery dataset of events and views."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z_][A-Za-z0-9_]*$", var.dataset)) && length(var.dataset) <= 1024
    error_message = "Letters, digits and underscores, no digit first, 1,024 at most."
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

variable "repository" {
  description = "The image repository: its location and name."
  type        = object({ location = string, name = string })

  validation {
    condition     = length(var.repository.location) > 0 && length(var.repository.name) > 0
    error_message = "Both are needed."
  }
}

variable "staging_bucket" {
  description = "The bucket of templates and of what a job writes while it runs."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$", var.staging_bucket))
    error_message = "A bucket's name."
  }
}

variable "subscriptions" {
  description = "The full names of the queues' subscriptions, by queue."
  type        = map(string)

  validation {
    condition     = length(var.subscriptions) > 0
    error_message = "One at least."
  }
}

variable "tables" {
  description = "The names of the tables in Bigtable, by their names in the crawl."
  type        = map(string)

  validation {
    condition     = length(var.tables) > 0
    error_message = "One at least."
  }
}

variable "topics" {
  description = "The full names of all topics, by their names in the crawl."
  type        = map(string)

  validation {
    condition     = length(var.topics) > 0
    error_message = "One at least."
  }
}
