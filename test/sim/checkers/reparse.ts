// Is every page whose parse was put off parsed in the end, and does one that could not be parsed say so? By events, records and links.
import type { FetchEvent } from "../../../schemas/events.ts";
import { pageAt } from "../world.ts";
import { type Checker, type FinalState, type SimFacts, Violations } from "./checker.ts";
import { mayLead, withoutRecords } from "./links.ts";
import { Sample } from "./sample.ts";
import { type UrlRow, urlRows } from "./tables.ts";
import { hostOf, urlRules } from "./url-rules.ts";

interface PutOff {
  leaseId: string;
  /** Of the record after it. */
  version: number;
  at: number;
}

const PAGES_KEPT = 20_000;

/** A page is followed up for as long as nobody asks for it again. */
export function reparse(facts: SimFacts): Checker {
  const { config, world } = facts;
  const violations = new Violations();
  const rules = urlRules(facts);
  const putOff = new Sample<PutOff>(PAGES_KEPT);
  const figures = { pagesPutOff: 0, parsesFailed: 0, pagesFollowedUp: 0 };

  function hear({ url, kind, leaseId, version, reason, at }: FetchEvent): void {
    if (kind !== "page" || !reason?.startsWith("parse-")) return;
    if (reason !== "parse-busy") {
      figures.parsesFailed++;
      return;
    }
    figures.pagesPutOff++;
    if (putOff.chosen(url)) putOff.set(url, { leaseId, version: version + 1, at });
  }

  /** URLs to which a page that was parsed at last leads, unless its answer was withheld. */
  function linksOf({ record }: UrlRow, at: number): string[] {
    const url = record.canonicalUrl;
    const host = world.byName.get(hostOf(url));
    const page = host && pageAt(world, host, url.slice(url.indexOf("/", "http://".length)), at);
    if (page?.kind !== "own" || !mayLead({ depth: record.depth + 1, hops: 0 }, config)) return [];
    return page.links.flatMap((link) => rules.wanted(link.url, url) ?? []);
  }

  return {
    name: "reparse",
    violations,
    figures: () => figures,
    published(kind, event) {
      if (kind === "fetch") hear(event as FetchEvent);
    },
    async finish(final) {
      let marked = 0;
      const links = new Map<string, string>();
      for await (const rows of urlRows(final)) {
        for (const row of rows) {
          const { canonicalUrl: url, lastLeaseId, lastReason, marks, version } = row.record;
          if (marks?.reparse) marked++;
          else if (lastReason?.startsWith("parse-") && !marks?.parseFailed)
            violations.add(`${url}: ${lastReason}, and no mark says that it is still to be parsed`);
          const owed = putOff.get(url);
          if (owed === undefined || owed.version !== version || owed.leaseId !== lastLeaseId || marks?.reparse) continue;
          figures.pagesFollowedUp++;
          if (marks?.parseFailed) continue;
          for (const link of linksOf(row, owed.at)) links.set(link, url);
        }
      }
      await follow(final, links);
      const queued = final.undelivered?.reparse ?? 0;
      if (marked > queued) violations.add(`${marked} pages are marked to be parsed anew, ${queued} messages say so`);
    },
  };

  async function follow(final: FinalState, links: ReadonlyMap<string, string>): Promise<void> {
    const undelivered = new Set(final.undelivered?.discover.flatMap(({ urls }) => urls));
    const owed = [...links.keys()].filter((url) => !undelivered.has(url));
    for (const url of await withoutRecords(final, rules, owed))
      violations.add(`${links.get(url)}: its parse was put off, and its link to ${url} has no record`);
  }
}
