// Which timer is due first? A heap of four children a node that finds, replaces and clears each timer exactly, for millions of them.

/** One timer of one key and family; it stands in at most one place of one queue. */
export class Timer<Owner> {
  readonly owner: Owner;
  readonly family: string;
  /** The owner's next timer: a list, since most keys have one. */
  next: Timer<Owner> | undefined;
  /** Its place in the queue, or -1. */
  place = -1;
  /** Rises with each set and clear, so that whoever noted it can tell whether the timer is still the one seen. */
  order = 0;

  constructor(owner: Owner, family: string, next?: Timer<Owner>) {
    this.owner = owner;
    this.family = family;
    this.next = next;
  }
}

const CHILDREN = 4;

export class TimerQueue<Owner> {
  #times = new Float64Array(64);
  #timers: Timer<Owner>[] = [];
  #orders = 0;

  get length(): number {
    return this.#timers.length;
  }

  /** When the earliest is due, Unix ms. */
  next(): number | undefined {
    return this.#timers.length > 0 ? this.#times[0] : undefined;
  }

  set(timer: Timer<Owner>, fireAt: number): void {
    timer.order = ++this.#orders;
    if (timer.place < 0) {
      timer.place = this.#timers.length;
      this.#timers.push(timer);
      if (this.#timers.length > this.#times.length) {
        const larger = new Float64Array(this.#times.length * 2);
        larger.set(this.#times);
        this.#times = larger;
      }
    }
    this.#settle(timer, fireAt);
  }

  clear(timer: Timer<Owner>): void {
    timer.order = ++this.#orders;
    if (timer.place >= 0) this.#remove(timer);
  }

  /** Takes out the earliest if it is due at `now`; equal times in the order they were set. */
  pop(now: number): Timer<Owner> | undefined {
    const timer = this.#timers[0];
    if (timer === undefined || this.#times[0]! > now) return undefined;
    this.#remove(timer);
    return timer;
  }

  #remove(timer: Timer<Owner>): void {
    const last = this.#timers.pop()!;
    const lastAt = this.#times[this.#timers.length]!;
    if (last !== timer) {
      last.place = timer.place;
      this.#settle(last, lastAt);
    }
    timer.place = -1;
  }

  /** Puts the timer where it belongs, from its place upwards or downwards. */
  #settle(timer: Timer<Owner>, fireAt: number): void {
    let place = timer.place;
    while (place > 0) {
      const parent = Math.floor((place - 1) / CHILDREN);
      if (!this.#earlier(fireAt, timer, parent)) break;
      this.#move(parent, place);
      place = parent;
    }
    for (;;) {
      const child = this.#firstChild(place);
      if (child === undefined || this.#earlier(fireAt, timer, child)) break;
      this.#move(child, place);
      place = child;
    }
    this.#timers[place] = timer;
    this.#times[place] = fireAt;
    timer.place = place;
  }

  #firstChild(place: number): number | undefined {
    const from = place * CHILDREN + 1;
    const to = Math.min(from + CHILDREN, this.#timers.length);
    if (from >= to) return undefined;
    let first = from;
    for (let at = from + 1; at < to; at++) if (this.#earlier(this.#times[at]!, this.#timers[at]!, first)) first = at;
    return first;
  }

  #move(from: number, to: number): void {
    const timer = this.#timers[from]!;
    this.#timers[to] = timer;
    this.#times[to] = this.#times[from]!;
    timer.place = to;
  }

  #earlier(fireAt: number, timer: Timer<Owner>, than: number): boolean {
    const other = this.#times[than]!;
    return fireAt < other || (fireAt === other && timer.order < this.#timers[than]!.order);
  }
}
