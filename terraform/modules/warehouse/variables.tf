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

variable "deletion_protection" {
  description = "Whether what holds the crawl's data refuses to be destroyed."
  type        = bool
  default     = true
}

variable "labels" {
  description = "Labels of everything that can have some; the bill is told by them."
  type        = map(string)

  validation {
    condition     = alltrue([for name, value in var.labels : can(regex("^[a-z][a-z0-9_-]{0,62}$", name)) && can(regex("^[a-z0-9_-]{0,63}$", value))])
    error_message = "Names and values of lower-case letters, digits, underscores and hyphens, 63 at most; names begin with a letter."
  }
}

variable "location" {
  description = "The region, or US or EU: where the workers are, or each byte is paid for on its way."
  type        = string

  validation {
    condition     = can(regex("^([a-z]+-[a-z]+[0-9]{1,2}|US|EU)$", var.location))
    error_message = "A region such as europe-west1, or US or EU."
  }
}

variable "partition_days" {
  description = "After how many days events are deleted; 0 is never."
  type        = number
  default     = 0

  validation {
    condition     = var.partition_days == 0 || var.partition_days >= 60
    error_message = "0, or 60 days at least: views look a month back."
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

variable "project_number" {
  description = "The project's number, by which Pub/Sub's own account is called."
  type        = string

  validation {
    condition     = can(regex("^[0-9]{1,20}$", var.project_number))
    error_message = "Digits alone."
  }
}
