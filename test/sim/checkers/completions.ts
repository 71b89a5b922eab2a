// Does each version of a URL end once, by one lease, and stay as that lease left it? From the fetch events and the final records.
//
// An event is published before the record is written, so after a death or a doubled lease a version may have been tried by several
// leases, each with its event; only one of them can have completed it. Without faults one lease is all there is.
import type { FetchEvent } from "../../../schemas/events.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";
import { Sample } from "./sample.ts";
import { type UrlRow, urlRows } from "./tables.ts";

interface Try {
  leaseId: string;
  outcome: FetchEvent["outcome"];
}

interface Told {
  /** Versions that were tried: 0 up to one less. */
  versions: number;
  /** Of the newest version, and of the one before it. */
  newest: Try[];
  former: Try[];
}

const URLS_KEPT = 200_000; // about 100 MB
const TRIES_KEPT = 8; // of one version: three admits are the most, and some settle without

export function completions({ faultless }: SimFacts): Checker {
  const violations = new Violations();
  const urls = new Sample<Told>(URLS_KEPT);
  let again = 0;

  function hear({ urlId, url, version, leaseId, outcome }: FetchEvent): void {
    if (!urls.chosen(urlId)) return;
    const told = urls.get(urlId) ?? { versions: 0, newest: [], former: [] };
    if (version > told.versions) violations.add(`${url}: version ${version} was tried, ${told.versions} never`);
    if (version >= told.versions) {
      const former = version === told.versions ? told.newest : [];
      urls.set(urlId, { versions: version + 1, newest: [{ leaseId, outcome }], former });
      return;
    }
    const late = version < told.versions - 1;
    const tries = late ? (version === told.versions - 2 ? told.former : undefined) : told.newest;
    const twin = tries?.find((one) => one.leaseId === leaseId && one.outcome === outcome);
    again++;
    if (twin === undefined && faultless) violations.add(`${url}: version ${version} ended twice${late ? ", late" : ""}`);
    if (twin === undefined && tries !== undefined && tries.length < TRIES_KEPT) tries.push({ leaseId, outcome });
  }

  return {
    name: "completions",
    violations,
    figures: () => ({ versionsTriedAgain: again }),
    published(kind, event) {
      if (kind === "fetch" && (event as FetchEvent).kind !== "robots") hear(event as FetchEvent);
    },
    async finish(final) {
      for await (const rows of urlRows(final)) {
        for (const row of rows) {
          if (!urls.chosen(row.urlId)) continue;
          const fault = faultOf(row, urls.get(row.urlId), faultless);
          if (fault !== undefined) violations.add(`${row.record.canonicalUrl}: ${fault}`);
        }
      }
    },
  };
}

function faultOf({ record }: UrlRow, told: Told | undefined, faultless: boolean): string | undefined {
  const { version, lastLeaseId, lastOutcome } = record;
  const versions = told?.versions ?? 0;
  const unfinished = !faultless && versions === version + 1; // tried, and nobody lived to complete it
  if (versions !== version && !unfinished) return `version ${version}, and events of ${versions} versions`;
  if (told === undefined || version === 0) return undefined;
  const tries = unfinished ? told.former : told.newest;
  const completing = tries.filter(({ leaseId }) => leaseId === lastLeaseId);
  if (completing.length === 0 && tries.length < TRIES_KEPT) return `completed by lease ${lastLeaseId}, of which no event tells`;
  if (completing.length > 0 && !completing.some(({ outcome }) => outcome === lastOutcome))
    return `ended as ${lastOutcome}, its lease's event says ${completing[0]!.outcome}`;
  return undefined;
}
