// Is any URL lost, doubled or half done? What was ever published or asked for has a record, each record one due entry and one sane state.
//
// After faults the harness runs repair() before finish, as each start of the crawler does: what it cannot bring together is a violation.
import { alternateIdentity, hostKeyOf, paceKeyOfHost, urlIdentity } from "../../../core/url/keys.ts";
import { type DueEntry, dueKey, rowKey } from "../../../schemas/row-key.ts";
import { priorityClasses } from "../../../schemas/url-state.ts";
import { type Checker, type FinalState, type SimFacts, Violations } from "./checker.ts";
import { mayLead, withoutRecords } from "./links.ts";
import { isRobots } from "./robots-ledger.ts";
import { Sample } from "./sample.ts";
import { dueEntries, type UrlRow, urlRows } from "./tables.ts";
import { urlRules } from "./url-rules.ts";

const URLS_KEPT = 100_000; // raw spellings, about 10 MB
const REQUESTS_ONE_IN = 8; // a page that is asked for was published, in general, and is watched as such

export function conservation(facts: SimFacts): Checker {
  const { config } = facts;
  const violations = new Violations();
  const rules = urlRules(facts);
  /** By spelling; the value tells where it was seen first. */
  const seen = new Sample<"published" | "asked">(URLS_KEPT);
  const see = (url: string, where: "published" | "asked"): void => {
    if (seen.chosen(url) && !seen.has(url)) seen.set(url, where);
  };
  let records = 0;
  return {
    name: "conservation",
    violations,
    figures: () => ({ records, urlsWatched: seen.size, urlsWatchedOneIn: seen.oneIn }),
    discovered(message) {
      if (!mayLead(message, config)) return;
      // Whether a URL is an echo depends on the page that links to it: only then is there more to ask at once.
      const echoed = message.from?.includes("?") ?? false;
      for (const url of message.urls) if (!echoed || rules.wanted(url, message.from) !== undefined) see(url, "published");
    },
    arrived(entry) {
      if (entry.serial % REQUESTS_ONE_IN === 0 && !isRobots(entry)) see(`${entry.scheme}//${entry.host}${entry.path}`, "asked");
    },
    async finish(final) {
      for await (const rows of urlRows(final)) {
        records += rows.length;
        for (const row of rows) for (const fault of faultsOf(row)) violations.add(`${row.record.canonicalUrl}: ${fault}`);
        await checkDue(final, rows, violations);
      }
      for await (const entries of dueEntries(final)) await checkEntries(final, entries, violations);
      const owed = wanted(seen, final);
      for (const url of await withoutRecords(final, rules, owed.keys()))
        violations.add(`${url}: ${owed.get(url)}, and without a record`);
    },
  };

  /** Canonical URLs that must have records, with where each was seen. */
  function wanted(sample: typeof seen, final: FinalState): Map<string, string> {
    const urls = new Map<string, string>();
    for (const [raw, where] of sample.entries()) {
      const url = where === "asked" ? raw : rules.wanted(raw);
      if (url !== undefined) urls.set(url, where);
    }
    for (const message of final.undelivered?.discover ?? []) for (const url of message.urls) urls.delete(url);
    return urls;
  }
}

/** What is wrong with one record by itself. */
function faultsOf({ urlId, paceKey, record }: UrlRow): string[] {
  const { canonicalUrl, version, docVersion, priority, lastOutcome, lastLeaseId, indexed, marks } = record;
  const faults: string[] = [];
  const ids = [urlIdentity(canonicalUrl).urlId, alternateIdentity(canonicalUrl).urlId];
  if (!ids.includes(urlId) || paceKeyOfHost(hostKeyOf(canonicalUrl)) !== paceKey) faults.push("stands under another's key");
  if (!(priorityClasses as readonly number[]).includes(priority)) faults.push(`priority ${priority}`);
  if (version === 0) {
    if (lastOutcome !== undefined || lastLeaseId !== undefined || docVersion > 0 || indexed)
      faults.push("new, and yet completed");
    if (priority > 1) faults.push(`new, and of class ${priority}`);
  } else if (lastOutcome === undefined || lastLeaseId === undefined) faults.push(`version ${version} without an outcome`);
  if (indexed && docVersion === 0) faults.push("indexed without a document");
  if (marks?.dueFrom !== undefined || marks?.index !== undefined) faults.push("unfinished marks");
  return faults;
}

function entryOf({ paceKey, urlId, record }: UrlRow): DueEntry {
  return { paceKey, urlId, priority: record.priority, dueAt: record.nextFetchAt };
}

async function checkDue({ tables }: FinalState, rows: readonly UrlRow[], violations: Violations): Promise<void> {
  const standing = await tables.due.get(rows.map((row) => dueKey(entryOf(row))));
  for (const [index, row] of rows.entries())
    if (standing[index] === undefined) violations.add(`${row.record.canonicalUrl}: no due entry at ${row.record.nextFetchAt}`);
}

/** As every record's own entry has been looked up, an entry that agrees with its record is the only one that does. */
async function checkEntries({ tables }: FinalState, entries: readonly DueEntry[], violations: Violations): Promise<void> {
  const records = await tables.urls.get(entries.map(({ paceKey, urlId }) => rowKey(paceKey, urlId)));
  for (const [index, entry] of entries.entries()) {
    const record = records[index]?.value;
    if (record === undefined) violations.add(`a due entry of ${entry.paceKey} without a record: ${entry.urlId}`);
    else if (record.nextFetchAt !== entry.dueAt || record.priority !== entry.priority)
      violations.add(`${record.canonicalUrl}: a second due entry, class ${entry.priority} at ${entry.dueAt}`);
  }
}
