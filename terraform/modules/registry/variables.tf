variable "crawl" {
  description = "What the names of tables, topics, subscriptions and accounts begin with: --crawl of the commands."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{0,19}[a-z0-9]$", var.crawl)) && !startswith(var.crawl, "goog")
    error_message = "2 to 21 lower-case letters, digits and hyphens, a letter first, no hyphen last, and not \"goog\" at the beginning: an account's name has 30 characters at most, and the longest of ours takes 9."
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

variable "region" {
  description = "The region of the workers and of all that they use."
  type        = string

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]{1,2}$", var.region))
    error_message = "A region, such as europe-west1."
  }
}

variable "versions_kept" {
  description = "How many of the newest images are kept whatever their age."
  type        = number
  default     = 20

  validation {
    condition     = var.versions_kept >= 3 && var.versions_kept <= 100 && floor(var.versions_kept) == var.versions_kept
    error_message = "3 to 100: the one that runs, and those to roll back to."
  }
}
