// What does a keyed DoFn see of its key in one bundle? State and timers with the bundle's own writes, kept apart until it commits.
import type { KeyedContext, Outputs, StateBag, StateCell } from "../dofn.ts";
import type { AnyKeyedDefinition } from "../pardo.ts";
import type { AfterCommit, Bundle } from "./bundle.ts";
import { crossed } from "./crossing.ts";
import type { Fired, Key } from "./keys.ts";
import type { TimerQueue } from "./timers.ts";

type State = Record<string, unknown>;

/** What the keys of one stage have in common. */
export interface KeyedStore {
  readonly definition: AnyKeyedDefinition;
  /** The names of the cells, then of the bags; the place is the number of each. */
  readonly kept: readonly string[];
  readonly timers: TimerQueue<Key>;
  /** Of event time. */
  readonly eventTimers: TimerQueue<Key>;
  /** Event time is at its end, and no timer of it is set any more. */
  readonly eventsOver: () => boolean;
  readonly checkCodecs: boolean;
}

interface BagWrites {
  cleared: boolean;
  added: unknown[];
}

/** The keyed DoFn is the first step of its stage. */
const STEP = 0;

export class KeyContext implements KeyedContext<Outputs, State, State> {
  readonly key: string;
  readonly #store: KeyedStore;
  readonly #owner: Key;
  readonly #bundle: Bundle;
  /** By the cell's number; a written undefined is a cleared cell. */
  #cells: Map<number, unknown> | undefined;
  /** By the bag's number. */
  #bags: Map<number, BagWrites> | undefined;
  /** By family; undefined is a cleared timer. */
  #timers: Map<string, number | undefined> | undefined;

  constructor(store: KeyedStore, owner: Key, bundle: Bundle) {
    this.key = owner.key;
    this.#store = store;
    this.#owner = owner;
    this.#bundle = bundle;
  }

  emit(output: string, value: unknown): void {
    this.#bundle.emit(STEP, output, value);
  }

  afterCommit(run: AfterCommit): void {
    this.#bundle.afterCommit(run);
  }

  state(cell: string): StateCell<unknown> {
    const { definition, kept } = this.#store;
    if (!Object.hasOwn(definition.state, cell)) throw new Error(`${definition.name} declares no state cell '${cell}'`);
    const index = kept.indexOf(cell);
    return {
      get: async () => this.#read(index),
      set: (value) => this.#write(index, value),
      clear: () => this.#write(index, undefined),
    };
  }

  bag(name: string): StateBag<unknown> {
    const { definition, kept } = this.#store;
    if (!Object.hasOwn(definition.bags ?? {}, name)) throw new Error(`${definition.name} declares no bag '${name}'`);
    const index = kept.indexOf(name);
    return {
      read: async () => this.#readBag(index).map((value) => this.#checked(index, value)),
      add: (value) => void this.#bagWrites(index).added.push(this.#checked(index, value)),
      clear: () => {
        const writes = this.#bagWrites(index);
        writes.cleared = true;
        writes.added = [];
      },
    };
  }

  setTimer(family: string, fireAt: number): void {
    if (!Number.isFinite(fireAt)) throw new Error(`${this.#store.definition.name}: a timer cannot fire at ${fireAt}`);
    this.#writeTimer(family, fireAt);
  }

  clearTimer(family: string): void {
    this.#writeTimer(family, undefined);
  }

  /** Whether a fired timer is still to be delivered: neither an earlier bundle nor this one has set or cleared it since. */
  delivers(fired: Fired): boolean {
    return fired.stands && !this.#timers?.has(fired.timer.family);
  }

  /** Makes the writes the key's state and timers. */
  commit(): void {
    const { definition, kept, timers, eventTimers, eventsOver } = this.#store;
    if (this.#cells !== undefined || this.#bags !== undefined) {
      this.#owner.cells ??= new Array(kept.length).fill(undefined);
      for (const [index, value] of this.#cells ?? []) this.#owner.cells[index] = value;
      for (const [index, writes] of this.#bags ?? []) this.#owner.cells[index] = afterWrites(this.#stored(index), writes);
      if (this.#owner.cells.every((value) => value === undefined)) this.#owner.cells = undefined;
    }
    if (this.#timers === undefined) return;
    for (const [family, fireAt] of this.#timers) {
      const timer = this.#owner.timer(family);
      const ofEvents = definition.eventTimers?.includes(family) === true;
      const queue = ofEvents ? eventTimers : timers;
      if (fireAt === undefined || (ofEvents && eventsOver())) queue.clear(timer);
      else queue.set(timer, fireAt);
    }
  }

  /** Of a bag, as committed bundles have left it. */
  #stored(index: number): unknown[] | undefined {
    return this.#owner.cells?.[index] as unknown[] | undefined;
  }

  #readBag(index: number): unknown[] {
    const writes = this.#bags?.get(index);
    return [...(writes?.cleared ? [] : (this.#stored(index) ?? [])), ...(writes?.added ?? [])];
  }

  #bagWrites(index: number): BagWrites {
    this.#bundle.mustBeOpen();
    this.#bags ??= new Map();
    const known = this.#bags.get(index) ?? { cleared: false, added: [] };
    this.#bags.set(index, known);
    return known;
  }

  #read(index: number): unknown {
    const value = this.#cells?.has(index) ? this.#cells.get(index) : this.#owner.cells?.[index];
    return value === undefined ? undefined : this.#checked(index, value);
  }

  #write(index: number, value: unknown): void {
    this.#bundle.mustBeOpen();
    this.#cells ??= new Map();
    this.#cells.set(index, value === undefined ? undefined : this.#checked(index, value));
  }

  /** Where codecs are checked, writer and readers each have a copy of their own, as on other runners. */
  #checked(index: number, value: unknown): unknown {
    const { checkCodecs, definition, kept } = this.#store;
    const name = kept[index]!;
    return checkCodecs ? crossed(definition.state[name] ?? definition.bags![name]!, value) : value;
  }

  #writeTimer(family: string, fireAt: number | undefined): void {
    this.#bundle.mustBeOpen();
    const { definition } = this.#store;
    if (!definition.timers.includes(family) && !definition.eventTimers?.includes(family))
      throw new Error(`${definition.name} declares no timer family '${family}'`);
    this.#timers ??= new Map();
    this.#timers.set(family, fireAt);
  }
}

/** Adds to the bag in place: a bag that is only added to costs what is added. Undefined where nothing is left. */
function afterWrites(stored: unknown[] | undefined, { cleared, added }: BagWrites): unknown[] | undefined {
  const bag = cleared || stored === undefined ? [] : stored;
  for (const value of added) bag.push(value);
  return bag.length === 0 ? undefined : bag;
}
