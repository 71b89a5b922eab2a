// Did the crawl ask for more than it may, or go deeper? Pages and bytes, in all and of a day, from the wire; depth and hops from the records.
import { allowances } from "./allowance.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";
import { dayBudgets } from "./day-budgets.ts";
import { isRobots } from "./robots-ledger.ts";
import { urlRows } from "./tables.ts";

const HOPS_MAX = 10;
/** What may have been under way when a worker died, and is not known to have been asked: a pool's slots. */
const UNDER_WAY = 256;

/**
 * A host's limit is durable and holds through all faults. The crawl's is counted in a process, from the records it finds at its start:
 * after a death it is judged by the records, which know each URL once, and what was under way then may come on top.
 */
export function budgets(facts: SimFacts): Checker {
  const { config } = facts;
  const violations = new Violations();
  const allowanceOf = allowances(config);
  const pagesMax = config.pagesMax ?? Number.POSITIVE_INFINITY;
  const days = dayBudgets(facts, violations);
  const asked = new Map<string, number>();
  let pages = 0;
  let deaths = 0;
  return {
    name: "budgets",
    violations,
    figures: () => days.figures,
    crashed(worker) {
      deaths++;
      days.crashed(worker);
    },
    arrived(entry) {
      const allowance = allowanceOf(entry.host);
      if (allowance.paused) violations.add(`${entry.host}${entry.path} at ${entry.at}: the host is paused`);
      if (isRobots(entry)) return;
      days.arrived(entry);
      const ofHost = (asked.get(entry.host) ?? 0) + 1;
      asked.set(entry.host, ofHost);
      pages++;
      if (ofHost > allowance.pagesMax) violations.add(`${entry.host}: page ${ofHost} of ${allowance.pagesMax}`);
      if (pages > pagesMax && deaths === 0) violations.add(`page ${pages} of ${pagesMax} of the crawl`);
    },
    async finish(final) {
      let known = 0;
      for await (const rows of urlRows(final)) {
        for (const { record } of rows) {
          const { canonicalUrl, depth, hops, kind, lastFetchAt } = record;
          if (depth > config.depthMax) violations.add(`${canonicalUrl}: ${depth} links deep of ${config.depthMax}`);
          if (hops > HOPS_MAX) violations.add(`${canonicalUrl}: after ${hops} redirects of ${HOPS_MAX}`);
          if (kind === "page" && lastFetchAt !== undefined) known++;
        }
      }
      if (known > pagesMax + deaths * UNDER_WAY) violations.add(`${known} pages of ${pagesMax} of the crawl were asked for`);
    },
  };
}
