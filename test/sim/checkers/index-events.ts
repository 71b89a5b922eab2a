// Does the index get each document version once and in order, and end with what the record says? An event may come again, the same.
import type { IndexEvent } from "../../../schemas/events.ts";
import { hashText } from "../chance.ts";
import { type Checker, type SimFacts, Violations } from "./checker.ts";
import { Sample } from "./sample.ts";
import { urlRows } from "./tables.ts";

interface Told {
  docVersion: number;
  op: IndexEvent["op"];
  /** Hashes of the last events' bytes, the newest last. */
  prints: number[];
}

const URLS_KEPT = 300_000; // about 60 MB
const PRINTS_KEPT = 4; // repeats of older events are not compared

export function indexEvents(_facts: SimFacts): Checker {
  const violations = new Violations();
  const urls = new Sample<Told>(URLS_KEPT);
  let events = 0;
  let repeats = 0;

  function hear(event: IndexEvent): void {
    events++;
    if (!urls.chosen(event.urlId)) return;
    const { urlId, url, docVersion, op } = event;
    const print = hashText(JSON.stringify(event));
    const told = urls.get(urlId);
    const last = told?.docVersion ?? 0;
    if (docVersion <= last) {
      repeats++;
      const known = told!.prints.at(docVersion - last - 1);
      if (docVersion < 1) violations.add(`${url}: document version ${docVersion}`);
      else if (known !== undefined && known !== print)
        violations.add(`${url}: two different events of document version ${docVersion}`);
      return;
    }
    if (docVersion !== last + 1) violations.add(`${url}: document version ${docVersion} follows ${last}`);
    if (op === "delete" && told?.op !== "upsert")
      violations.add(`${url}: a delete (${docVersion}) without a document before it`);
    urls.set(urlId, { docVersion, op, prints: [...(told?.prints ?? []), print].slice(-PRINTS_KEPT) });
  }

  return {
    name: "index-events",
    violations,
    figures: () => ({ indexEvents: events, indexEventsRepeated: repeats }),
    published(kind, event) {
      if (kind === "index") hear(event as IndexEvent);
    },
    async finish(final) {
      for await (const rows of urlRows(final)) {
        for (const { urlId, record } of rows) {
          if (!urls.chosen(urlId)) continue;
          const told = urls.get(urlId);
          const { canonicalUrl, docVersion, indexed = false } = record;
          if ((told?.docVersion ?? 0) !== docVersion)
            violations.add(
              `${canonicalUrl}: document version ${docVersion}, the index was told ${told?.docVersion ?? "nothing"}`,
            );
          else if (told !== undefined && (told.op === "upsert") !== indexed)
            violations.add(`${canonicalUrl}: ${indexed ? "indexed" : "not indexed"}, the index was told ${told.op} last`);
        }
      }
    },
  };
}
