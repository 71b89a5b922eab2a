// How is written what nothing is compared with? What callers give while one call is out goes together in the next one, MutateRows, a row once.
import { groupCommit } from "../../objects/group-commit.ts";
import type { Calls, MutateEntry } from "./calls.ts";
import { bigtableTrouble, status, wasRefused } from "./faults.ts";
import { repeated } from "./repeat.ts";

/** Of one call; the service takes 100,000 mutations, and its time is that of one call. */
const ENTRIES_MAX = 1_000;
/** Of the rows of one call, about. */
const BATCH_BYTES = 4 * 1024 * 1024;

/** Carries out the last write of each row. Rejects with StoreError; then any of them may or may not have happened, now or late. */
export function blindWrites(calls: Calls, table: string): (entries: readonly MutateEntry[]) => Promise<void> {
  const group = groupCommit<readonly MutateEntry[], void>({
    async commit(batches) {
      // In this order; within a call it would not be kept.
      const byRow = new Map(batches.flat().map((entry) => [entry.rowKey.toString("latin1"), entry]));
      const entries = [...byRow.values()];
      for (let from = 0; from < entries.length; from += ENTRIES_MAX)
        await written(calls, table, entries.slice(from, from + ENTRIES_MAX));
      return batches.map(() => undefined);
    },
    bytesOf: (entries) => entries.length * ENTRY_BYTES,
    batchBytes: BATCH_BYTES,
  });
  return async (entries) => {
    if (entries.length > 0) await group.submit(entries);
  };
}

const ENTRY_BYTES = 256; // of a due entry with its key on the wire, and more: what is put blindly has no value to speak of

/** What was not told to be done is sent again, which changes nothing where it was done. */
async function written(calls: Calls, table: string, entries: readonly MutateEntry[]): Promise<void> {
  let left = entries;
  try {
    await repeated(calls.patience, async (timeoutMs) => {
      const codes = await calls.mutateRows(table, left, timeoutMs);
      const failed = codes.filter((code) => code !== status.ok).map((code) => Object.assign(new Error(MESSAGE), { code }));
      left = left.filter((_, index) => codes[index] !== status.ok);
      const error = failed.find(wasRefused) ?? failed[0];
      if (error !== undefined) throw error;
    });
  } catch (error) {
    throw bigtableTrouble(error, calls.place(table));
  }
}

const MESSAGE = "a row of a batch was not written";
