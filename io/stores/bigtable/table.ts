// How does Bigtable keep a versioned table? One cell a row, written only on the condition of what stood there; reads are one call a batch.
import type { Row, VersionedTable } from "../../../ports/versioned-table.ts";
import { checkedKey, checkedRev } from "../checks.ts";
import { blindWrites } from "./blind-writes.ts";
import { type BigtableOptions, bigtableCalls, type Calls, type ReadAsk } from "./calls.ts";
import { conditionally } from "./conditional-write.ts";
import { eachRow } from "./each-row.ts";
import { bigtableTrouble, movedOn, type Place } from "./faults.ts";
import { gatheredReads } from "./gathered-reads.ts";
import { repeated, triesOf } from "./repeat.ts";
import { keyBytes, rangeBytes, rowOf, writableRow } from "./row-bytes.ts";
import { deletion, dropEntry, insertion, putEntry, replacement, type Write } from "./writes.ts";

/** Keys of one ReadRows, and their bytes together: half of what its request may hold. */
const KEYS_MAX = 1_000;
const KEYS_BYTES_MAX = 256 * 1024;

interface Stored {
  calls: Calls;
  table: string;
  place: Place;
}

/**
 * A table that was set up and whose version was checked: openBigtableStore() does that. All it rejects with is StoreError. An insert whose
 * answer was lost takes a row with its own rev for its own, so a rev that others use too (the due index has "") tells only that a row stands.
 */
export function bigtableTable(options: BigtableOptions & { table: string }): VersionedTable {
  const { table } = options;
  const calls = bigtableCalls(options);
  const place = calls.place(table);
  const stored: Stored = { calls, table, place };
  const blindly = blindWrites(calls, table);
  const gathered = gatheredReads(async (keys) =>
    (await Promise.all(batches(keys).map((rowKeys) => read(stored, { rows: { rowKeys } })))).flat(),
  );
  return {
    async get(keys) {
      const wanted = new Map<string, Buffer>();
      for (const key of keys) if (checkedKey(key) !== "" && !wanted.has(key)) wanted.set(key, keyBytes(place, key));
      const found = wanted.size === 0 ? NONE : await gathered(wanted);
      return keys.map((key) => taken(found, key));
    },
    async insertIfAbsent(rows) {
      const writes = rows.map((row) => insertion(writableRow(place, row)));
      return eachRow(writes, (write) => carriedOut(stored, write));
    },
    async compareAndSet(row, expectedRev) {
      return carriedOut(stored, replacement(writableRow(place, row), checkedRev(expectedRev)));
    },
    async scan(range) {
      const bytes = rangeBytes(place, range);
      if (bytes === undefined) return [];
      const { startKeyClosed, endKeyOpen, limit } = bytes;
      return read(stored, { rows: { rowRanges: [{ startKeyClosed, endKeyOpen }] }, rowsLimit: limit });
    },
    async delete(rows) {
      const writes = rows.map(({ key, rev }) =>
        deletion(key, keyBytes(place, key), rev === undefined ? undefined : checkedRev(rev)),
      );
      return eachRow(writes, (write) => carriedOut(stored, write));
    },
    put: async (rows) => blindly(rows.map((row) => putEntry(writableRow(place, row)))),
    drop: async (keys) => blindly(keys.map((key) => dropEntry(keyBytes(place, key)))),
  };
}

const NONE: ReadonlyMap<string, Row> = new Map();

/** A key that is asked for twice gets two rows, as from any other table: who changes one changes no other. */
function taken(found: ReadonlyMap<string, Row>, key: string): Row | undefined {
  const row = found.get(key);
  return row && { ...row, value: new Uint8Array(row.value) };
}

function batches(keys: readonly Buffer[]): Buffer[][] {
  const all: Buffer[][] = [];
  let bytes = 0;
  for (const key of keys) {
    bytes += key.length;
    const last = all.at(-1);
    if (last !== undefined && last.length < KEYS_MAX && bytes <= KEYS_BYTES_MAX) last.push(key);
    else {
      all.push([key]);
      bytes = key.length;
    }
  }
  return all;
}

async function carriedOut(stored: Stored, { key, ask, written, standing }: Write): Promise<boolean> {
  const { calls, table, place } = stored;
  const write = {
    send: async (timeoutMs: number) => written(await calls.checkAndMutate(table, ask, timeoutMs)),
    look: async () => standing((await read(stored, { rows: { rowKeys: [ask.rowKey] } }))[0]),
    movedOn: (cause: unknown) => movedOn(place, key, cause),
    trouble: (error: unknown) => bigtableTrouble(error, place),
    lost: (found: string) => calls.count("gleaner_bigtable_answers_lost_total", { standing: found }),
  };
  return conditionally(write, triesOf(calls.patience));
}

/** The rows in order. Rejects with StoreError. */
async function read({ calls, table, place }: Stored, ask: ReadAsk): Promise<Row[]> {
  try {
    const rows = await repeated(calls.patience, (timeoutMs) => calls.readRows(table, ask, timeoutMs));
    return rows.map(({ key, cell }) => rowOf(place, key.toString(), cell));
  } catch (error) {
    throw bigtableTrouble(error, place);
  }
}
