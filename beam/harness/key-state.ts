// What does a bundle know of a key's cells? What it has read and written: each is asked for once, and written back once, at the bundle's end.
import { type AnyCodec, decode, encode } from "../../schemas/codec.ts";
import { elementAfter, inBag, newestOf, valueIn } from "./cell-bag.ts";
import { KeyBag } from "./key-bag.ts";
import type { StateKey } from "./messages.ts";
import type { StateCache } from "./state-cache.ts";
import type { StatePlane } from "./state-plane.ts";
import { WireWriter } from "./wire-bytes.ts";

/** What the cells and bags of one keyed step in one bundle have in common; a bag's number goes on behind the last cell's. */
export interface CellStore {
  readonly plane: () => StatePlane;
  readonly instruction: string;
  readonly transform: string;
  readonly names: readonly string[];
  readonly codecs: readonly AnyCodec[];
  readonly cache: StateCache;
  /** Undefined where the runner has given no token, so that nothing outlives the bundle. */
  readonly cacheScope: string | undefined;
}

interface Cell {
  /** Under way. */
  reading?: Promise<void>;
  /** Whether `stored` is what the runner has: the newest element of its bag. */
  known: boolean;
  stored: Uint8Array | undefined;
  value: unknown;
  written: boolean;
}

const writer = new WireWriter();

export class KeyState {
  readonly #store: CellStore;
  readonly #key: string;
  readonly #cells: (Cell | undefined)[] = [];
  #bags: Map<number, KeyBag> | undefined;
  #keyBytes: Uint8Array | undefined;

  constructor(store: CellStore, key: string) {
    this.#store = store;
    this.#key = key;
  }

  /** Undefined where there is nothing. Rejects where the runner does, or with CodecError. */
  async get(index: number): Promise<unknown> {
    const cell = this.#cell(index);
    if (!cell.written && !cell.known) {
      cell.reading ??= this.#read(index, cell);
      await cell.reading;
    }
    return cell.value;
  }

  /** Undefined clears it. */
  set(index: number, value: unknown): void {
    const cell = this.#cell(index);
    cell.value = value;
    cell.written = true;
  }

  bag(index: number): KeyBag {
    const known = this.#bags?.get(index);
    if (known !== undefined) return known;
    const { cache, cacheScope, codecs, plane, instruction } = this.#store;
    const cached = cacheScope === undefined ? undefined : cache.get(this.#cacheKey(cacheScope, index));
    const key = this.#stateKey(index);
    const bag = new KeyBag({
      codec: codecs[index]!,
      cached: cached && (cached.bytes ?? NOTHING),
      get: () => plane().get(instruction, key),
      append: (bytes) => plane().append(instruction, key, bytes),
      clear: () => plane().clear(instruction, key),
    });
    this.#bags ??= new Map();
    this.#bags.set(index, bag);
    return bag;
  }

  /** Sends what has changed; the promises of the answers. */
  flush(): Promise<void>[] {
    const { codecs } = this.#store;
    const answers: Promise<void>[] = [];
    for (const [index, cell] of this.#cells.entries()) {
      if (cell?.written !== true) continue;
      const value = cell.value === undefined ? undefined : encode(codecs[index]!, cell.value);
      if (!cell.known || !alike(value, cell.stored && valueIn(cell.stored))) answers.push(...this.#write(index, cell, value));
      cell.written = false;
    }
    for (const bag of this.#bags?.values() ?? []) answers.push(...bag.flush());
    return answers;
  }

  /** The bundle is committed, or has failed: what is known of the key outlives it, or nothing does. */
  settle(committed: boolean): void {
    const { cache, cacheScope } = this.#store;
    if (cacheScope === undefined) return;
    for (const [index, cell] of this.#cells.entries()) {
      if (cell === undefined) continue;
      const key = this.#cacheKey(cacheScope, index);
      if (!committed) cache.delete(key);
      else if (cell.known) cache.set(key, cell.stored);
    }
    for (const [index, { stored }] of this.#bags ?? []) {
      const key = this.#cacheKey(cacheScope, index);
      if (committed && stored !== undefined) cache.set(key, stored);
      else cache.delete(key);
    }
  }

  #cell(index: number): Cell {
    const known = this.#cells[index];
    if (known !== undefined) return known;
    const { cache, cacheScope, codecs } = this.#store;
    const cached = cacheScope === undefined ? undefined : cache.get(this.#cacheKey(cacheScope, index));
    const cell: Cell = { known: cached !== undefined, stored: cached?.bytes, value: undefined, written: false };
    if (cell.stored !== undefined) cell.value = decode(codecs[index]!, valueIn(cell.stored));
    this.#cells[index] = cell;
    return cell;
  }

  async #read(index: number, cell: Cell): Promise<void> {
    const { plane, instruction, codecs } = this.#store;
    const stored = newestOf(await plane().get(instruction, this.#stateKey(index)));
    cell.known = true;
    cell.stored = stored;
    if (!cell.written) cell.value = stored && decode(codecs[index]!, valueIn(stored));
  }

  /** One request, or two where the bag is emptied before. */
  #write(index: number, cell: Cell, value: Uint8Array | undefined): Promise<void>[] {
    const { plane, instruction } = this.#store;
    const key = this.#stateKey(index);
    const answers: Promise<void>[] = [];
    const next = value && elementAfter(cell.stored, value);
    if (!cell.known || next === undefined || next.empties) answers.push(plane().clear(instruction, key));
    if (next !== undefined) answers.push(plane().append(instruction, key, inBag(next.element)));
    cell.known = true;
    cell.stored = next?.element;
    return answers;
  }

  #stateKey(index: number): StateKey {
    if (this.#keyBytes === undefined) {
      writer.text(this.#key);
      this.#keyBytes = writer.take();
    }
    return { transform: this.#store.transform, cell: this.#store.names[index]!, key: this.#keyBytes };
  }

  #cacheKey(scope: string, index: number): string {
    return `${scope}${index}/${this.#key}`;
  }
}

const NOTHING = new Uint8Array();

function alike(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return Buffer.compare(one, other) === 0;
}
