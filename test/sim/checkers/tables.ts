// What stands in the tables at the end? The URL records and due entries, a page of rows at a time.
import { type DueEntry, paceKeyOf, parseDueKey, type RowKey, rowKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import type { FinalState } from "./checker.ts";

export interface UrlRow {
  key: RowKey;
  paceKey: string;
  urlId: string;
  record: UrlState;
}

const PAGE = 1_000; // rows of one scan
const LAST = "\u{10ffff}";

/** Rows that are kept for the next checker, which would read the same ones again. */
const KEPT = 200_000;
const read = new WeakMap<object, UrlRow[][]>();

/** All URL records, in batches; nothing changes them while the checkers look at one final state. */
export async function* urlRows(final: Pick<FinalState, "tables">): AsyncGenerator<UrlRow[]> {
  const known = read.get(final);
  if (known !== undefined) {
    yield* known;
    return;
  }
  const batches: UrlRow[][] = [];
  for await (const rows of pages((range) => final.tables.urls.scan(range))) {
    const batch = rows.map(({ key, value }) => {
      const paceKey = paceKeyOf(key);
      return { key, paceKey, urlId: key.slice(rowKey(paceKey).length), record: value };
    });
    if (batches.length * PAGE < KEPT) batches.push(batch);
    yield batch;
  }
  if (batches.length * PAGE < KEPT) read.set(final, batches);
}

/** All entries of the due index, in batches. */
export async function* dueEntries({ tables }: Pick<FinalState, "tables">): AsyncGenerator<DueEntry[]> {
  for await (const rows of pages((range) => tables.due.scan(range))) yield rows.map(({ key }) => parseDueKey(key));
}

type Scan<R> = (range: { from: RowKey; to: RowKey; limit: number }) => Promise<R[]>;

async function* pages<R extends { key: RowKey }>(scan: Scan<R>): AsyncGenerator<R[]> {
  for (let from = ""; ; ) {
    const rows = await scan({ from, to: LAST, limit: PAGE });
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE) return;
    from = `${rows.at(-1)!.key}\u0000`;
  }
}
