// What does a keyed DoFn see of its key in one bundle? State and timers with the bundle's own writes, kept apart until it commits.
import type { KeyedContext, Outputs, StateCell } from "../dofn.ts";
import type { AnyKeyedDefinition } from "../pardo.ts";
import type { AfterCommit, Bundle } from "./bundle.ts";
import { crossed } from "./crossing.ts";
import type { Fired, Key } from "./keys.ts";
import type { TimerQueue } from "./timers.ts";

type State = Record<string, unknown>;

/** What the keys of one stage have in common. */
export interface KeyedStore {
  readonly definition: AnyKeyedDefinition;
  /** The names of the cells; a cell's number is its place. */
  readonly cells: readonly string[];
  readonly timers: TimerQueue<Key>;
  readonly checkCodecs: boolean;
}

/** The keyed DoFn is the first step of its stage. */
const STEP = 0;

export class KeyContext implements KeyedContext<Outputs, State> {
  readonly key: string;
  readonly #store: KeyedStore;
  readonly #owner: Key;
  readonly #bundle: Bundle;
  /** By the cell's number; a written undefined is a cleared cell. */
  #cells: Map<number, unknown> | undefined;
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
    const index = this.#store.cells.indexOf(cell);
    if (index < 0) throw new Error(`${this.#store.definition.name} declares no state cell '${cell}'`);
    return {
      get: async () => this.#read(index),
      set: (value) => this.#write(index, value),
      clear: () => this.#write(index, undefined),
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
    const { cells, timers } = this.#store;
    if (this.#cells !== undefined) {
      this.#owner.cells ??= new Array(cells.length).fill(undefined);
      for (const [index, value] of this.#cells) this.#owner.cells[index] = value;
      if (this.#owner.cells.every((value) => value === undefined)) this.#owner.cells = undefined;
    }
    if (this.#timers === undefined) return;
    for (const [family, fireAt] of this.#timers) {
      const timer = this.#owner.timer(family);
      if (fireAt === undefined) timers.clear(timer);
      else timers.set(timer, fireAt);
    }
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
    const { checkCodecs, definition, cells } = this.#store;
    return checkCodecs ? crossed(definition.state[cells[index]!]!, value) : value;
  }

  #writeTimer(family: string, fireAt: number | undefined): void {
    this.#bundle.mustBeOpen();
    const { definition } = this.#store;
    if (!definition.timers.includes(family)) throw new Error(`${definition.name} declares no timer family '${family}'`);
    this.#timers ??= new Map();
    this.#timers.set(family, fireAt);
  }
}
