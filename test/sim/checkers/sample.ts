// How can ten million things be watched in bounded memory? By keeping those of a share that their hash chooses, smaller as they grow.

import { hashText } from "../chance.ts";

/** A map of at most `max` entries: all keys while they fit, then every second, fourth … by hash, always from the first of each key on. */
export class Sample<V> {
  readonly #entries = new Map<string, V>();
  readonly #max: number;
  #mask: number;

  /** `oneIn`, a power of two: no more than that share is kept from the beginning. */
  constructor(max: number, oneIn = 1) {
    this.#max = max;
    this.#mask = oneIn - 1;
  }

  /** Whether the key is among those watched. */
  chosen(key: string): boolean {
    return this.#mask === 0 || (hashText(key) & this.#mask) === 0;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** The value must be of a chosen key. */
  set(key: string, value: V): void {
    this.#entries.set(key, value);
    while (this.#entries.size > this.#max) {
      this.#mask = this.#mask * 2 + 1;
      for (const known of this.#entries.keys()) if (!this.chosen(known)) this.#entries.delete(known);
    }
  }

  get size(): number {
    return this.#entries.size;
  }

  /** How many things stand for one that is kept. */
  get oneIn(): number {
    return this.#mask + 1;
  }

  entries(): IterableIterator<[string, V]> {
    return this.#entries.entries();
  }
}
