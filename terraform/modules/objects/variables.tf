variable "bucket" {
  description = "The bucket of pages and documents: --bucket of the commands."
  type        = string

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9._-]{1,53}[a-z0-9]$", var.bucket))
    error_message = "3 to 55 lower-case letters, digits, dots, hyphens and underscores, a letter or digit first and last; 8 more are put after it."
  }
}

variable "deletion_protection" {
  description = "Whether what holds the crawl's data refuses to be destroyed."
  type        = bool
  default     = true
}

variable "documents_days" {
  description = "After how many days documents become rarely read (Nearline) and hardly ever read (Coldline)."
  type        = object({ nearline = number, coldline = number })
  default     = { nearline = 30, coldline = 180 }

  validation {
    condition     = var.documents_days.nearline >= 8 && var.documents_days.coldline >= var.documents_days.nearline + 30
    error_message = "Nearline from 8 days on, and Coldline 30 days later at least: a shorter stay is paid for as one of 30."
  }
}

variable "events_days" {
  description = "After how many days files of events become rarely read (Nearline) and hardly ever read (Coldline)."
  type        = object({ nearline = number, coldline = number })
  default     = { nearline = 30, coldline = 180 }

  validation {
    condition     = var.events_days.nearline >= 8 && var.events_days.coldline >= var.events_days.nearline + 30
    error_message = "Nearline from 8 days on, so that a week's days can be run again, and Coldline 30 days later at least: a shorter stay is paid for as one of 30."
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

variable "pages_days" {
  description = "After how many days pages become hardly ever read (Coldline) and kept alone (Archive)."
  type        = object({ coldline = number, archive = number })
  default     = { coldline = 30, archive = 365 }

  validation {
    condition     = var.pages_days.coldline >= 8 && var.pages_days.archive >= var.pages_days.coldline + 90
    error_message = "Coldline from 8 days on, when a day is compacted, and Archive 90 days later at least: a shorter stay is paid for as one of 90."
  }
}

variable "pages_deleted_days" {
  description = "After how many days pages are deleted; 0 is never. Their indexes, documents, events and manifests stay."
  type        = number
  default     = 0

  validation {
    condition     = var.pages_deleted_days == 0 || var.pages_deleted_days >= var.pages_days.archive
    error_message = "0, or not before they are archived."
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
