// First in, first out, in constant time.

const COMPACT_FROM = 1024; // taken places that are worth giving back

export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  first(): T | undefined {
    return this.#items[this.#head];
  }

  shift(): T | undefined {
    const item = this.#items[this.#head];
    if (this.#head < this.#items.length) this.#items[this.#head++] = undefined;
    if (this.#head === this.#items.length || (this.#head >= COMPACT_FROM && this.#head * 2 > this.#items.length)) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }

  /** The first ones, at most `max`. */
  take(max: number): T[] {
    const taken: T[] = [];
    while (taken.length < max && this.length > 0) taken.push(this.shift() as T);
    return taken;
  }

  clear(): void {
    this.#items = [];
    this.#head = 0;
  }
}
