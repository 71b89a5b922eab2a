// What does a keyed stage keep of a key? Its state cells, its timers, and what waits for it; nothing of a key that has none of these.
import { Fifo } from "./fifo.ts";
import { Timer, type TimerQueue } from "./timers.ts";

/** A timer that came due and waits for its key; void when the timer has been set or cleared since. */
export class Fired {
  readonly timer: Timer<Key>;
  readonly order: number;

  constructor(timer: Timer<Key>) {
    this.timer = timer;
    this.order = timer.order;
  }

  get stands(): boolean {
    return this.timer.order === this.order;
  }
}

/** A value, or a Fired. */
export type Item = unknown;

export class Key {
  readonly key: string;
  /** By the cell's number; undefined where no cell has a value. */
  cells: unknown[] | undefined;
  /** Head of the list of its timers. */
  timers: Timer<Key> | undefined;
  pending: Item[] | undefined;
  /** At work, or in line for it. */
  busy = false;

  constructor(key: string) {
    this.key = key;
  }

  timer(family: string): Timer<Key> {
    for (let timer = this.timers; timer !== undefined; timer = timer.next) if (timer.family === family) return timer;
    this.timers = new Timer<Key>(this, family, this.timers);
    return this.timers;
  }

  get waits(): boolean {
    for (let timer = this.timers; timer !== undefined; timer = timer.next) if (timer.place >= 0) return true;
    return false;
  }
}

/** All keys of a stage, and the line of those that have something to do and are not at work. */
export class Keys {
  readonly #keys = new Map<string, Key>();
  readonly #ready = new Fifo<Key>();
  #fired = 0;
  readonly #came: ((key: Key) => void) | undefined;

  /** `came` is told of each value and fired timer that begins to wait. */
  constructor(came?: (key: Key) => void) {
    this.#came = came;
  }

  get length(): number {
    return this.#keys.size;
  }

  /** Fired timers that wait. */
  get fired(): number {
    return this.#fired;
  }

  get ready(): boolean {
    return this.#ready.length > 0;
  }

  add(key: string, value: unknown): void {
    let known = this.#keys.get(key);
    if (known === undefined) {
      known = new Key(key);
      this.#keys.set(key, known);
    }
    this.#enqueue(known, value);
  }

  /** Lets timers that are due wait for their keys, as long as at most `max` do; how many it has let. */
  fire(timers: TimerQueue<Key>, now: number, max: number): number {
    const before = this.#fired;
    while (this.#fired < max) {
      const timer = timers.pop(now);
      if (timer === undefined) break;
      this.#fired++;
      this.#enqueue(timer.owner, new Fired(timer));
    }
    return this.#fired - before;
  }

  /** The next key in line and the first of what waits for it, at most `max`. It is at work until it is released. */
  take(max: number): { key: Key; items: Item[]; values: number } | undefined {
    const key = this.#ready.shift();
    if (key?.pending === undefined) return undefined; // whoever is in line has something pending
    const items = key.pending.length <= max ? key.pending : key.pending.splice(0, max);
    if (items === key.pending) key.pending = undefined;
    let fired = 0;
    for (const item of items) if (item instanceof Fired) fired++;
    this.#fired -= fired;
    return { key, items, values: items.length - fired };
  }

  release(key: Key): void {
    if (key.pending !== undefined) {
      this.#ready.push(key);
      return;
    }
    key.busy = false;
    if (key.cells === undefined && !key.waits) this.#keys.delete(key.key);
  }

  #enqueue(key: Key, item: Item): void {
    if (key.pending === undefined) key.pending = [item];
    else key.pending.push(item);
    this.#came?.(key);
    if (key.busy) return;
    key.busy = true;
    this.#ready.push(key);
  }
}
