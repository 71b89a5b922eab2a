// How does a URL get another due time while the crawl goes on? By compare-and-set on what was read: a fetch that finished meanwhile wins.
import { unmarked } from "../../core/frontier/complete.ts";
import type { Versioned } from "../../ports/versioned-table.ts";
import { dueKey, paceKeyOf, type RowKey, rowKey } from "../../schemas/row-key.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import { dropDue, putDue } from "../due-index.ts";
import type { DailyServices } from "./services.ts";

/**
 * Whether the record now says `nextFetchAt` (Unix ms), with its due entry moved. It goes the way of a completion, record first and with a
 * mark, so that whoever meets the record when we died in between moves the entry. A record that a completion has not finished is left alone.
 */
export async function reschedule(
  services: Pick<DailyServices, "tables">,
  { key, rev, value }: Versioned<UrlState> & { key: RowKey },
  nextFetchAt: number,
): Promise<boolean> {
  if (value.marks?.dueFrom !== undefined || value.marks?.index !== undefined) return false;
  const { urls } = services.tables;
  const { priority, nextFetchAt: dueAt } = value;
  const marked: UrlState = { ...value, nextFetchAt, marks: { ...value.marks, dueFrom: { priority, dueAt } } };
  const written = await urls.compareAndSet(key, marked, rev);
  if (written === undefined) return false;
  const paceKey = paceKeyOf(key);
  const entry = { paceKey, urlId: key.slice(rowKey(paceKey).length), priority };
  await putDue(services, [{ ...entry, dueAt: nextFetchAt }]);
  await dropDue(services, [dueKey({ ...entry, dueAt })]);
  // Who wrote the record meanwhile has met the mark, and done the same.
  await urls.compareAndSet(key, unmarked(marked, ["dueFrom"]), written);
  return true;
}
