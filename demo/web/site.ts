// What is one site of the demo web, and what must a polite crawl of it come to?
import type { RefusalReason, WithheldReason } from "../../schemas/reasons.ts";
import type { SiteAnswer, SiteHandler, SiteRequest } from "../../test/lib/web-server.ts";
import { notFound, plain } from "./page.ts";

/** Judged from the server's log once the crawl is done. Paths as requested; robots.txt goes without saying. */
export interface Expectation {
  /** Answered with 200 or 304 in the end. */
  fetched: readonly string[];
  /** Of those, the ones that only the sitemap names: not fetched without --sitemaps. */
  sitemapOnly?: readonly string[];
  /** Requested and answered with another status, whether again or not. */
  answered?: Readonly<Record<string, number>>;
  /** Never requested: forbidden, not to be followed, or beyond a limit. */
  never?: readonly string[];
  /** Requested with 429 once before its answer: fetched only if the crawl lasts until its retry. */
  retried?: readonly string[];
  /**
   * A trap: all that is fetched matches one of `fetched` or this pattern, at most `most` of them. `reasons`: by which the crawl turns
   * away, each at least once.
   */
  endless?: { pattern: RegExp; most: number; reasons: readonly TrapReason[] };
}

export type TrapReason = RefusalReason | WithheldReason;

export interface DemoSite {
  host: string;
  /** One line for the demo's own listing. */
  about: string;
  /** Absent: nothing answers there. */
  handler?: SiteHandler;
  expected: Expectation;
}

/** The URL of a path on one of the demo's hosts. They have no port: --connect-to leads them to the real one. */
export function demoUrl(host: string, path = "/"): string {
  return `http://${host}${path}`;
}

/** A site of fixed answers by path; what it does not have is a 404. */
export function fixedSite(
  robots: string,
  answers: ReadonlyMap<string, SiteAnswer | ((ask: SiteRequest) => SiteAnswer)>,
): SiteHandler {
  return (ask) => {
    if (ask.path === "/robots.txt") return plain(robots);
    const answer = answers.get(ask.path) ?? notFound(ask.path);
    return typeof answer === "function" ? answer(ask) : answer;
  };
}

export const ALLOW_ALL = "User-agent: *\nDisallow:\n";
