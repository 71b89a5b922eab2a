// The versioned end of a lease: the record by compare-and-set, then the work it marks, each step safe to repeat.
import { type Completion, complete, priorResult, unmarked } from "../../core/frontier/complete.ts";
import type { Versioned } from "../../ports/versioned-table.ts";
import { encode } from "../../schemas/codec.ts";
import type { ContentRef } from "../../schemas/content-ref.ts";
import type { IndexEvent } from "../../schemas/events.ts";
import type { FetchLease } from "../../schemas/lease.ts";
import { reparseMessage } from "../../schemas/messages.ts";
import { dueKey, type RowKey, rowKey } from "../../schemas/row-key.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import { dropDue, putDue } from "../due-index.ts";
import type { CrawlServices } from "../services.ts";
import { contentKey } from "./store.ts";

/** What whoever completes has in hand already, so that it need not be read again. */
export interface InHand {
  /** The URL's record as it was read, without unfinished marks: the conditional write notices if it has moved on. */
  found?: Versioned<UrlState> | undefined;
  /** Where the body stands that the completion is about. */
  ref?: ContentRef | undefined;
}

export interface Completed {
  record: UrlState;
  /** What nobody has to wait for: whoever meets the record's marks would do it, too. Once. */
  afterwards(): Promise<void>;
}

const nothingMore = async (): Promise<void> => {};

/** The record as it stands after the first completion of this version; undefined where another lease was first. */
export async function completeDurably(
  services: CrawlServices,
  lease: FetchLease,
  completion: Completion,
  { found, ref }: InHand = {},
): Promise<Completed | undefined> {
  const { clock, metrics, tables } = services;
  const key = rowKey(lease.paceKey, lease.urlId);
  for (let known = found; ; known = undefined) {
    const row = known ?? (await tables.urls.get([key]))[0];
    if (row === undefined) return undefined;
    const prior = priorResult(row.value, lease);
    if (prior !== undefined) {
      metrics.count("gleaner_completions_repeated_total", 1, { result: prior });
      return prior === "already" ? { record: row.value, afterwards: nothingMore } : undefined;
    }
    if (row.value.marks?.dueFrom !== undefined || row.value.marks?.index !== undefined) {
      await finishMarks(services, lease.paceKey, lease.urlId, row); // ours would take their place
      continue;
    }
    const { after } = complete(row.value, lease.leaseId, completion, clock.now());
    const rev = await tables.urls.compareAndSet(key, after, row.rev);
    if (rev === undefined) continue; // someone wrote the record meanwhile; our version may still be the one
    return { record: after, afterwards: await carryOutMarks(services, lease.paceKey, lease.urlId, { rev, value: after }, ref) };
  }
}

/** Does what the marks say and clears them. Whoever meets marks in a record calls this first; doing it twice is harmless. */
export async function finishMarks(
  services: CrawlServices,
  paceKey: string,
  urlId: string,
  row: Versioned<UrlState>,
  ref?: ContentRef,
): Promise<void> {
  const clear = await carryOutMarks(services, paceKey, urlId, row, ref);
  await clear();
}

/** Does what the marks say; what it returns clears them. */
async function carryOutMarks(
  services: CrawlServices,
  paceKey: string,
  urlId: string,
  { rev, value }: Versioned<UrlState>,
  ref?: ContentRef,
): Promise<() => Promise<void>> {
  const { marks } = value;
  if (marks === undefined) return nothingMore;
  const { events, queues, tables } = services;
  let outdated: RowKey | undefined;
  if (marks.dueFrom !== undefined) {
    const entry = { paceKey, urlId, priority: value.priority, dueAt: value.nextFetchAt };
    const former = { paceKey, urlId, ...marks.dueFrom };
    await putDue(services, [entry]);
    if (dueKey(former) !== dueKey(entry)) outdated = dueKey(former);
  }
  if (marks.index !== undefined) await events.publish("index", [await indexEvent(services, urlId, value, ref)]);
  if (marks.reparse) await queues.reparse.publish([encode(reparseMessage, { paceKey, urlId, version: value.version })]);
  return async () => {
    // Last: for as long as it stands, a refill meets these marks should we fail before.
    if (outdated !== undefined) await dropDue(services, [outdated]);
    // `reparse` stands until the page was parsed. Who else wrote the record meanwhile has met the marks too.
    await tables.urls.compareAndSet(rowKey(paceKey, urlId), unmarked(value, ["dueFrom", "index"]), rev);
  };
}

/** The event's bytes are a function of the stored record; `ref` is what the content table has of its hash, where that was just seen. */
async function indexEvent(
  { tables }: CrawlServices,
  urlId: string,
  value: UrlState,
  ref: ContentRef | undefined,
): Promise<IndexEvent> {
  const op = value.marks?.index ?? "upsert";
  const event = {
    at: value.lastFetchAt ?? value.discoveredAt,
    urlId,
    docVersion: value.docVersion,
    op,
    url: value.canonicalUrl,
  };
  if (op === "delete" || value.contentHash === undefined) return event;
  const contentHash = contentKey(value.contentHash);
  const place = ref ?? (await tables.content.get([contentHash]))[0]?.value;
  if (place === undefined) return event;
  const { segment, offset, length } = place;
  return { ...event, contentHash, segment, offset, length };
}
