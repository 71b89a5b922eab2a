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

variable "event_tables" {
  description = "Of each BigQuery table with events the full name, project.dataset.table: the warehouse's output."
  type        = map(string)

  validation {
    condition     = alltrue([for table in values(var.event_tables) : can(regex("^[a-z0-9-]+[.][A-Za-z0-9_]+[.][a-z_]+$", table))])
    error_message = "Each as project.dataset.table."
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

variable "regions" {
  description = "Where messages may be stored while they wait."
  type        = list(string)

  validation {
    condition     = length(var.regions) > 0 && alltrue([for region in var.regions : can(regex("^[a-z]+-[a-z]+[0-9]{1,2}$", region))])
    error_message = "One region at least, such as europe-west1."
  }
}
