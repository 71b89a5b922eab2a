// How is the reading of a whole table spread over the workers? As the 256 ranges of its keys, each read by whoever is given it.
import { type Start, start } from "../../beam/coders.ts";
import type { DoFnDefinition } from "../../beam/dofn.ts";
import { type RecordTable, scanPages, type Versioned } from "../../ports/versioned-table.ts";
import { struct, text } from "../../schemas/codec.ts";
import { type KeyRange, keyRanges, type RowKey } from "../../schemas/row-key.ts";

export const keyRange = struct({ part: text, from: text, to: text });

/** Config: nothing. A reshuffle belongs behind it. */
export const allKeyRanges: DoFnDefinition<Start, { ranges: typeof keyRange }, Record<never, never>, unknown> = {
  form: "each",
  name: "dailyKeyRanges",
  input: start,
  outputs: { ranges: keyRange },
  make: () => ({
    process(_, context) {
      for (const range of keyRanges) context.emit("ranges", range);
    },
  }),
};

const PAGE = 1_000; // rows of one scan

/** In the order of their keys, a page at a time. */
export function rowsOf<T>(table: RecordTable<T>, { from, to }: KeyRange): AsyncGenerator<(Versioned<T> & { key: RowKey })[]> {
  return scanPages(table, { from, to, limit: PAGE });
}
