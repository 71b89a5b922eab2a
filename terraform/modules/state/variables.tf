variable "backup_days" {
  description = "How many days a table's daily backup is kept."
  type        = number
  default     = 7

  validation {
    condition     = var.backup_days >= 3 && var.backup_days <= 90 && floor(var.backup_days) == var.backup_days
    error_message = "3 to 90 days."
  }
}

variable "cpu_target" {
  description = "At which load of the processors, in percent, nodes are added."
  type        = number
  default     = 60

  validation {
    condition     = var.cpu_target >= 10 && var.cpu_target <= 80 && floor(var.cpu_target) == var.cpu_target
    error_message = "10 to 80: with one cluster Google advises 60."
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

variable "deletion_protection" {
  description = "Whether what holds the crawl's data refuses to be destroyed."
  type        = bool
  default     = true
}

variable "instance" {
  description = "The Bigtable instance: --instance of the commands."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,31}[a-z0-9]$", var.instance))
    error_message = "6 to 33 lower-case letters, digits and hyphens, a letter first, no hyphen last."
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

variable "nodes" {
  description = "How many nodes there are at least and at most."
  type        = object({ min = number, max = number })

  validation {
    condition     = var.nodes.min >= 1 && var.nodes.max >= var.nodes.min && var.nodes.max <= 10 * var.nodes.min
    error_message = "At least 1, and at most ten times as many, which is what Bigtable's autoscaling takes."
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

variable "zone" {
  description = "The zone of the only cluster, in the region of the workers."
  type        = string

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]{1,2}-[a-f]$", var.zone))
    error_message = "A zone, such as europe-west1-b."
  }
}
