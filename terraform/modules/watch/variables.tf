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

variable "delay_ms" {
  description = "The shortest gap that the crawl's hosts are promised, ms: limits.delayMs, unless an owner agreed to less."
  type        = number
  default     = 1000

  validation {
    condition     = var.delay_ms >= 1 && var.delay_ms <= 86400000 && floor(var.delay_ms) == var.delay_ms
    error_message = "1 ms to a day."
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
  description = "What the crawl is sized for; the dashboard draws it."
  type        = number

  validation {
    condition     = var.fetches_per_day >= 1
    error_message = "1 at least."
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

variable "job_name" {
  description = "The name of the streaming job."
  type        = string

  validation {
    condition     = can(regex("^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$", var.job_name))
    error_message = "Lower-case letters, digits and hyphens, a letter first."
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

variable "location" {
  description = "The region, or US or EU: where the workers are, or each byte is paid for on its way."
  type        = string

  validation {
    condition     = can(regex("^([a-z]+-[a-z]+[0-9]{1,2}|US|EU)$", var.location))
    error_message = "A region such as europe-west1, or US or EU."
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

variable "subscription_names" {
  description = "The names, without path, of all subscriptions, by their names in the crawl: discover, host, reparse, dead, events-…."
  type        = map(string)

  validation {
    condition     = alltrue([for each in ["discover", "host", "reparse", "dead"] : contains(keys(var.subscription_names), each)])
    error_message = "discover, host, reparse and dead are needed."
  }
}

variable "watcher" {
  description = "The account that asks the dataset whether hosts were left alone."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]@[a-z0-9.-]+$", var.watcher))
    error_message = "An account's address."
  }
}
