// Where do elements wait for their stage? In memory, up to one bound for the whole job; what is more goes to runs, those of a failed bundle nowhere.
import type { Run, Spill } from "../../ports/spill.ts";
import { RECORDS_MAX, Records } from "./records.ts";
import { placesOf, type Sequence, writeRun } from "./runs.ts";

/** Sorted where they are to be grouped. */
interface Holder {
  readonly sorted: boolean;
  records: Records;
  runs: Run[];
}

/** The memory that all collections of a job share. */
export class Store {
  readonly spill: Spill;
  readonly #bytesMax: number;
  readonly #holders = new Set<Holder>();
  #bytes = 0;

  constructor(spill: Spill, bytesMax: number) {
    this.spill = spill;
    this.#bytesMax = bytesMax;
  }

  add(sorted: boolean): Holder {
    const holder: Holder = { sorted, records: new Records(), runs: [] };
    this.#holders.add(holder);
    return holder;
  }

  /** Returns the bytes of the record. Throws SpillError. */
  put(holder: Holder, key: string, value: Uint8Array): number {
    if (holder.records.count === RECORDS_MAX) this.#toRun(holder);
    const before = holder.records.bytes;
    const size = holder.records.add(key, value);
    this.#bytes += holder.records.bytes - before;
    while (this.#bytes > this.#bytesMax) {
      // The largest, so that runs are few and long.
      const largest = [...this.#holders].reduce((one, other) => (other.records.bytes > one.records.bytes ? other : one));
      this.#toRun(largest);
    }
    return size;
  }

  /** All of `from` comes to `to`, and `from` is gone. Throws SpillError. */
  move(from: Holder, to: Holder): void {
    if (from.records.count + to.records.count > RECORDS_MAX) this.#toRun(to);
    to.records.adopt(from.records);
    to.runs.push(...from.runs);
    this.#holders.delete(from);
  }

  /** It is read from now on: what it has in memory is not spilled any more, and not counted. */
  release(holder: Holder): void {
    if (this.#holders.delete(holder)) this.#bytes -= holder.records.bytes;
  }

  /** Its memory and its runs are given back. */
  drop(holder: Holder): void {
    this.release(holder);
    holder.records = new Records();
    for (const run of holder.runs.splice(0)) run.remove();
  }

  #toRun(holder: Holder): void {
    const { records, sorted } = holder;
    holder.runs.push(writeRun(this.spill, placesOf(records, sorted ? records.sorted() : undefined)));
    this.#bytes -= records.bytes;
    holder.records = new Records();
  }
}

/** What one bundle gives to one stage; then either commit or discard. */
export interface Pending {
  put(key: string, value: Uint8Array): void;
  commit(): void;
  discard(): void;
}

/** All that is given to one stage. Operations throw SpillError. */
export class Collected {
  readonly #store: Store;
  readonly #holder: Holder;
  elements = 0;
  /** Of keys, values and what is noted of them. */
  bytes = 0;
  spilledBytes = 0;

  constructor(store: Store, sorted: boolean) {
    this.#store = store;
    this.#holder = store.add(sorted);
  }

  begin(): Pending {
    const store = this.#store;
    const holder = store.add(this.#holder.sorted);
    let elements = 0;
    let bytes = 0;
    return {
      put(key, value) {
        bytes += store.put(holder, key, value);
        elements++;
      },
      commit: () => {
        store.move(holder, this.#holder);
        this.elements += elements;
        this.bytes += bytes;
      },
      discard: () => store.drop(holder),
    };
  }

  /** To be read; nothing more comes. */
  sequences(): Sequence[] {
    this.#store.release(this.#holder);
    const { records, runs, sorted } = this.#holder;
    this.spilledBytes = runs.reduce((sum, run) => sum + run.bytes, 0);
    const spilled = runs.map((run): Sequence => ({ kind: "run", run }));
    if (records.count === 0) return spilled;
    return [...spilled, { kind: "records", records, order: sorted ? records.sorted() : undefined }];
  }

  remove(): void {
    this.#store.drop(this.#holder);
  }
}
