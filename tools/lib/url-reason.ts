// Why is this URL not being fetched right now, in a sentence?
import type { UrlBecause } from "../../core/frontier/explain-url.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import type { RobotsDecision } from "./read-robots.ts";
import type { RecordView, UnknownUrl, UrlView } from "./read-url.ts";
import { when } from "./words.ts";

export function urlReason({ explanation, at: now, running, record, paceKey, robots }: UrlView, config: CrawlConfig): string {
  const { because } = explanation;
  if (because === "robots-file")
    return "It is not fetched as a page: robots.txt has no record of its own, what is known stands above.";
  if (because === "refused") return `It has no record and would not be taken: ${refusal(explanation, config)}.`;
  if (because === "unseen") return unseen(robots, config);
  const at = "at" in explanation && explanation.at !== undefined ? when(explanation.at, now) : undefined;
  if (because === "in-flight")
    return `It is being fetched right now: a request is booked, and without an answer it is given up ${at}.`;
  if (because === "turn" && running === false)
    return "It is not being fetched right now because no crawl is running on this folder; nothing else holds it back.";
  const idle = running === false && because !== "not-due" ? " And no crawl is running on this folder." : "";
  return `It is not being fetched right now because ${words[because]({ at, record, paceKey })}.${idle}`;
}

interface Told {
  /** Until when it holds, in words. */
  at: string | undefined;
  record: RecordView | undefined;
  paceKey: string;
}

const words: Record<Exclude<UrlBecause, "in-flight">, (told: Told) => string> = {
  "not-due": ({ at, record }) => `${notDue(record)}: due ${at}`,
  "no-due-entry": () => "no due entry leads to it; the next start of the crawl repairs that",
  "robots-forbidden": () => "robots.txt forbids it; its next turn completes it without a request",
  "robots-unreachable": ({ at }) => `robots.txt cannot be reached, which forbids all; it is asked for again ${at}`,
  "robots-deferred": ({ at }) => `the host put off the request for robots.txt; it is asked for again ${at}`,
  "robots-missing": () => "robots.txt of its host is to be asked for first",
  address: () => "the address guard refuses where its name leads; --allow-address admits it",
  paused: ({ at }) => `its host is paused ${at === undefined ? "by policy" : `until ${at}`}`,
  moved: () => "the clock of its host was moved to another one",
  "host-page-limit": () => "its host has had all its pages: --max-pages-per-host, or pagesMax of its policy",
  "page-limit": () => "the crawl has had all its pages: --max-pages",
  "rest-asked": ({ at }) => `its host asked for rest (429 or Retry-After) until ${at}`,
  backoff: ({ at }) => `its host failed and is left alone until ${at}`,
  concurrency: ({ at }) => `another request to its host is under way, to be answered or given up ${at}`,
  clock: ({ at }) => `its host is owed a pause until ${at}`,
  turn: ({ paceKey }) => `its turn among the due URLs of ${paceKey} has not come; nothing else holds it back`,
};

function notDue(record: RecordView | undefined): string {
  switch (record?.lastOutcome) {
    case "fetched":
    case "unchanged":
    case "redirect":
      return `it was visited (${record.lastOutcome}) and its next visit lies ahead`;
    case "robots":
      return "robots.txt forbade it, which is judged again later";
    case "address":
      return "the address guard refused it, which is judged again later";
    case "server-error":
    case "failed":
    case "throttled":
      return `it ended as ${record.lastOutcome} and ${record.failureCount > 0 ? "waits for its retry" : "its retries are spent"}`;
    default:
      return record?.lastOutcome === undefined ? "its time lies ahead" : `it ended as ${record.lastOutcome}`;
  }
}

function refusal({ reason }: Extract<UnknownUrl, { because: "refused" }>, { scope, depthMax }: CrawlConfig): string {
  switch (reason) {
    case "scope":
      return `it is outside --scope ${scope.mode} of ${named(scope.mode === "domain" ? scope.domains : scope.hosts)}`;
    case "excluded":
      return "the --include and --exclude patterns leave it out";
    case "depth":
      return `it was found more than --max-depth ${depthMax} links from a seed`;
    default:
      return `it was refused before, reason ${reason}`;
  }
}

const NAMED = 5; // hosts of a scope

function named(names: readonly string[]): string {
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : "";
  return `${names.slice(0, NAMED).join(", ")}${more}`;
}

function unseen({ judgement }: RobotsDecision, { depthMax }: CrawlConfig): string {
  const forbidden = judgement.verdict === "disallow" ? ", and robots.txt would forbid it" : "";
  return `It was never seen: no page, sitemap or redirect led to it. As a seed, or within ${depthMax} links of one, it would be taken${forbidden}.`;
}
