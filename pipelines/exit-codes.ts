// How did the command end? One code a cause, the same for every command of the project.

export const exitCodes = {
  /** The crawl ran until nothing more was due. */
  done: 0,
  /** An error of our own that nobody expected. */
  fault: 1,
  badUsage: 2,
  /** --max-pages was reached. */
  limit: 3,
  /** No page of this crawl was ever answered; of inspect and explain: the URL or host was never seen. */
  nothingFetched: 4,
  /** The stores cannot be used: missing, in use, of another version, damaged, full, forbidden or out of reach. */
  brokenStore: 5,
  /** SIGINT or SIGTERM: the crawl can be resumed. */
  interrupted: 130,
} as const;
