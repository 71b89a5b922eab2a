// What does a record say of a stored page that was parsed at last, and is what its host answers to whatever is asked?
import type { WithheldReason } from "../../schemas/reasons.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import { reparsed } from "../frontier/complete.ts";

/**
 * As after a fetch whose answer is withheld: no document, and no set of links that was published, so that the next visit looks anew. A
 * reason that a later attempt gave stands. `simHash`: 16 lower-case hex digits.
 */
export function withheld(record: UrlState, reason: WithheldReason, simHash: string): UrlState {
  const { linkSetHash: _, ...after } = reparsed(record, { simHash, linkSetHash: NO_LINKS, indexable: false });
  const published = record.linkSetHash === undefined ? {} : { linkSetHash: record.linkSetHash };
  return { lastReason: reason, ...after, ...published };
}

const NO_LINKS = new Uint8Array();
