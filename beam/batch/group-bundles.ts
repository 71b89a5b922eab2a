// Which groups are one bundle? Small ones together, held in memory for another try; a large one alone, streamed from where it was noted.
import { Merged, type MergeMark } from "./merge.ts";
import { keyIn, type Place, sameKey, valueIn } from "./records.ts";
import type { Sequence } from "./runs.ts";

/** A group that has more is streamed. */
const GROUP_BYTES_MAX = 1024 * 1024;
/** What a value that is held takes beside its bytes. */
const VALUE_BYTES = 128;

export interface Group {
  key: string;
  values: readonly Uint8Array[];
}

export type GroupBundle =
  | { kind: "groups"; groups: readonly Group[]; elements: number }
  /** `first` are held; the rest is read by nextOfLarge(). */
  | { kind: "large"; key: string; first: readonly Uint8Array[] };

export interface BundleBounds {
  elements: number;
  bytes: number;
}

/** Gives bundle after bundle; after a large one nothing is asked for until its values have been read or passed over. */
export class GroupBundles {
  readonly #bounds: BundleBounds;
  #merged: Merged;
  /** `of`: a record of it. */
  #large: { of: Place; bundle: GroupBundle; mark: MergeMark; returned: boolean } | undefined;

  constructor(sequences: readonly Sequence[], bounds: BundleBounds) {
    this.#bounds = bounds;
    this.#merged = new Merged(sequences);
  }

  /** Undefined after the last. Throws SpillError. */
  next(): GroupBundle | undefined {
    if (this.#large?.returned === true) this.#large = undefined;
    const groups: Group[] = [];
    let elements = 0;
    let bytes = 0;
    while (this.#large === undefined && this.#merged.place !== undefined) {
      if (elements >= this.#bounds.elements || bytes >= this.#bounds.bytes) break;
      const group = this.#group();
      if (group === undefined) break;
      groups.push(group);
      elements += group.values.length;
      bytes += group.bytes;
    }
    if (groups.length > 0) return { kind: "groups", groups, elements };
    if (this.#large === undefined) return undefined;
    this.#large.returned = true;
    return this.#large.bundle;
  }

  /** Of the large group that next() gave last; undefined after its last value. Throws SpillError. */
  nextOfLarge(): Uint8Array | undefined {
    const { place } = this.#merged;
    if (this.#large === undefined || place === undefined || !sameKey(place, this.#large.of)) return undefined;
    const value = valueIn(place);
    this.#merged.next();
    return value;
  }

  /** nextOfLarge() begins again behind `first`. Throws SpillError. */
  again(): void {
    if (this.#large !== undefined) this.#merged = this.#merged.backTo(this.#large.mark);
  }

  close(): void {
    this.#merged.close();
  }

  /** Undefined where it is large. */
  #group(): (Group & { bytes: number }) | undefined {
    const of = { ...this.#merged.place! };
    const key = keyIn(of).toString();
    const values: Uint8Array[] = [];
    let bytes = 0;
    for (let place = this.#merged.place; place !== undefined && sameKey(place, of); place = this.#merged.place) {
      if (bytes > GROUP_BYTES_MAX) {
        const bundle: GroupBundle = { kind: "large", key, first: values };
        this.#large = { of, bundle, mark: this.#merged.mark(), returned: false };
        return undefined;
      }
      const value = valueIn(place);
      values.push(value);
      bytes += VALUE_BYTES + value.length;
      this.#merged.next();
    }
    return { key, values, bytes };
  }
}
