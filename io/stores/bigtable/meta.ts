// What does a crawl keep about itself in Bigtable? Small texts under their names (seeds, configuration), and numbers that only rise (epoch).
import { StoreError, type VersionedTable } from "../../../ports/versioned-table.ts";
import { limits } from "../../../schemas/limits.ts";
import { systemRandom } from "../../random.ts";
import { notSetUp, otherFormat, type Place } from "./faults.ts";

export interface BigtableMeta {
  get(name: string): Promise<string | undefined>;
  /** Whoever sets last wins. Rejects with StoreError. */
  set(name: string, text: string): Promise<void>;
  /** Puts `make(what stands)` in its place, seeing what others wrote meanwhile; `make` may be called more than once. Gives the new text. */
  change(name: string, make: (stands: string | undefined) => string): Promise<string>;
  /** The number under the name, 0 where there is none, plus one, which nobody else is given. Numbers may be left out. */
  raise(name: string): Promise<number>;
}

/** The table, beside those of the records. */
export const META_TABLE = "meta";

/** The shape of the tables, their cells and their records. A program opens only tables of its own version. */
export const FORMAT = "1";
const FORMAT_NAME = "format";

export function bigtableMeta(table: VersionedTable): BigtableMeta {
  const random = systemRandom();
  const change: BigtableMeta["change"] = (name, make) =>
    changed(table, name, (stands) => ({ rev: random.token(), text: make(stands) }));
  return {
    async get(name) {
      const [row] = await table.get([name]);
      return row && textOf(row.value);
    },
    async set(name, text) {
      if (name === FORMAT_NAME) throw new StoreError(`'${FORMAT_NAME}' is the version of the tables and not to be set`);
      await change(name, () => text);
    },
    change,
    async raise(name) {
      return Number(await change(name, (stands) => String(wholeNumber(name, stands ?? "0") + 1)));
    },
  };
}

/** Writes the version where there is none. Rejects with StoreError where there is another. */
export async function writeFormat(table: VersionedTable, place: Place): Promise<void> {
  const row = { key: FORMAT_NAME, rev: systemRandom().token(), value: Buffer.from(FORMAT) };
  // Another set-up may write it at this moment, or the answer be lost: what stands then is what counts.
  await again(() => table.insertIfAbsent([row]));
  await checkFormat(table, place);
}

/** Rejects with StoreError where the tables were not set up, or by another version. */
export async function checkFormat(table: VersionedTable, place: Place): Promise<void> {
  const [row] = await table.get([FORMAT_NAME]);
  if (row === undefined) throw notSetUp(place);
  const found = textOf(row.value);
  if (found !== FORMAT) throw otherFormat(place, found, FORMAT);
}

/** The text as it was written. */
async function changed(
  table: VersionedTable,
  key: string,
  change: (stands: string | undefined) => { rev: string; text: string },
): Promise<string> {
  const written = await again(async () => {
    for (let round = 0; round < limits.casTries; round++) {
      const [stands] = await table.get([key]);
      const { rev, text } = change(stands && textOf(stands.value));
      const row = { key, rev, value: Buffer.from(text) };
      if (stands === undefined ? (await table.insertIfAbsent([row]))[0] : await table.compareAndSet(row, stands.rev))
        return text;
    }
    return undefined;
  });
  if (written !== undefined) return written;
  throw new StoreError(`'${key}' was written by others ${limits.casTries} times in a row: start again`);
}

/** A write of which nobody knows whether it happened is made anew: setting a text twice, or leaving out a number, is harmless. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let lost = 1; ; lost++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreError) || error.final || lost === LOST_MAX) throw error;
    }
  }
}

const LOST_MAX = 3; // of one change: the table has been patient with each

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  throw new StoreError(`'${name}' is not a number but ${JSON.stringify(text.slice(0, 100))}`, { final: true });
}

function textOf(value: Uint8Array): string {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString();
}
