// What does a keyed DoFn see of its key in one bundle? State, bags and timers with the bundle's own writes, which leave at its end.
import type { KeyedContext, Outputs, StateBag, StateCell } from "../dofn.ts";
import type { AfterCommit, Bundle } from "./bundle.ts";
import type { Key, KeyedOptions } from "./keyed-bundle.ts";
import { type Header, timeOf } from "./windowed.ts";

type State = Record<string, unknown>;

export class KeyContext implements KeyedContext<Outputs, State, State> {
  readonly #options: KeyedOptions;
  readonly #bundle: Bundle;
  readonly #key: Key;
  readonly #header: Header;

  constructor(options: KeyedOptions, bundle: Bundle, key: Key, header: Header) {
    this.#options = options;
    this.#bundle = bundle;
    this.#key = key;
    this.#header = header;
  }

  get key(): string {
    return this.#key.key;
  }

  emit(output: string, value: unknown): void {
    this.#bundle.emit(this.#options.step, output, this.#header, value);
  }

  afterCommit(run: AfterCommit): void {
    this.#bundle.mustBeOpen();
    this.#bundle.afterCommits.push(run);
  }

  state(name: string): StateCell<unknown> {
    const index = this.#index(name, "state");
    const { state } = this.#key;
    const set = (value: unknown) => {
      this.#bundle.mustBeOpen();
      state.set(index, value);
    };
    const get = async () => {
      this.#bundle.mustWork();
      return state.get(index);
    };
    return { get, set, clear: () => set(undefined) };
  }

  bag(name: string): StateBag<unknown> {
    const bag = this.#key.state.bag(this.#index(name, "bags"));
    return {
      read: async () => {
        this.#bundle.mustWork();
        return bag.read();
      },
      add: (value) => {
        this.#bundle.mustBeOpen();
        bag.add(value);
      },
      clear: () => {
        this.#bundle.mustBeOpen();
        bag.clear();
      },
    };
  }

  setTimer(family: string, fireAt: number): void {
    if (!Number.isFinite(fireAt)) throw new Error(`${this.#options.definition.name}: a timer cannot fire at ${fireAt}`);
    this.#writeTimer(family, fireAt);
  }

  clearTimer(family: string): void {
    this.#writeTimer(family, undefined);
  }

  #index(name: string, kind: "state" | "bags"): number {
    const { store, definition } = this.#options;
    if (!Object.hasOwn(definition[kind] ?? {}, name))
      throw new Error(`${definition.name} declares no ${kind === "state" ? "state cell" : "bag"} '${name}'`);
    return store.names.indexOf(name);
  }

  #writeTimer(family: string, fireAt: number | undefined): void {
    this.#bundle.mustBeOpen();
    const { definition, families } = this.#options;
    if (!families.has(family)) throw new Error(`${definition.name} declares no timer family '${family}'`);
    // What it will emit comes into being no earlier than now; so a key that always has a timer does not hold the watermark at its first one.
    const holdAt = Math.max(timeOf(this.#header), this.#bundle.parts.clock.now());
    const key = this.#key;
    key.timers ??= new Map();
    key.timers.set(family, { key: key.key, fireAt, holdAt });
  }
}
