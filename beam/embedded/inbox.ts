// How many elements wait for a stage? Never more than its capacity: whoever brings more waits until they are taken.
import { Fifo } from "./fifo.ts";

interface Offer {
  values: readonly unknown[];
  at: number;
  resolve: () => void;
}

export class Inbox {
  readonly #capacity: number;
  readonly #place: (value: unknown) => void;
  readonly #offers = new Fifo<Offer>();
  #length = 0;
  #longest = 0;
  #closed = false;

  /** `place` puts one element where the stage finds it. */
  constructor(capacity: number, place: (value: unknown) => void) {
    this.#capacity = capacity;
    this.#place = place;
  }

  get length(): number {
    return this.#length;
  }

  /** The most that ever waited. */
  get longest(): number {
    return this.#longest;
  }

  get empty(): boolean {
    return this.#length === 0 && this.#offers.length === 0;
  }

  /** Takes the values in order; undefined when all are in, else a promise of that. Those who wait come first. */
  offer(values: readonly unknown[]): Promise<void> | undefined {
    if (this.#closed) return undefined;
    const offer: Offer = { values, at: 0, resolve: nothing };
    if (this.#offers.length === 0) this.#accept(offer);
    if (offer.at === values.length) return undefined;
    return new Promise((resolve) => {
      offer.resolve = resolve;
      this.#offers.push(offer);
    });
  }

  /** So many elements were taken by the stage. */
  taken(count: number): void {
    this.#length -= count;
    for (let offer = this.#offers.first(); offer !== undefined; offer = this.#offers.first()) {
      this.#accept(offer);
      if (offer.at < offer.values.length) return;
      this.#offers.shift();
      offer.resolve();
    }
  }

  /** The job has failed: nothing more is taken, and nobody waits. */
  close(): void {
    this.#closed = true;
    for (let offer = this.#offers.shift(); offer !== undefined; offer = this.#offers.shift()) offer.resolve();
  }

  #accept(offer: Offer): void {
    while (offer.at < offer.values.length && this.#length < this.#capacity) {
      this.#length++;
      this.#place(offer.values[offer.at++]);
    }
    this.#longest = Math.max(this.#longest, this.#length);
  }
}

function nothing(): void {}
