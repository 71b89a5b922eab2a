// What does a bundle know of a key's cells? What it has read and written: each is asked for once, and written back once, at the bundle's end.
import { type AnyCodec, decode, encode } from "../../schemas/codec.ts";
import type { StateKey } from "./messages.ts";
import type { StateCache } from "./state-cache.ts";
import type { StatePlane } from "./state-plane.ts";
import { WireReader, WireWriter } from "./wire-bytes.ts";

/** What the cells of one keyed step in one bundle have in common. */
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
  /** Whether `stored` is what the runner has. */
  known: boolean;
  stored: Uint8Array | undefined;
  value: unknown;
  written: boolean;
}

/** A bag of one element: in the nested encoding of bytes, as every bag of ours (beam/coders.ts). */
const writer = new WireWriter();

export class KeyState {
  readonly #store: CellStore;
  readonly #key: string;
  readonly #cells: (Cell | undefined)[] = [];
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

  /** Sends what has changed; the promises of the answers. */
  flush(): Promise<void>[] {
    const { codecs, instruction, plane } = this.#store;
    const answers: Promise<void>[] = [];
    for (const [index, cell] of this.#cells.entries()) {
      if (cell?.written !== true) continue;
      const bytes = cell.value === undefined ? undefined : encode(codecs[index]!, cell.value);
      const changed = !cell.known || !alike(bytes, cell.stored);
      if (changed && (!cell.known || cell.stored !== undefined))
        answers.push(plane().clear(instruction, this.#stateKey(index)));
      if (changed && bytes !== undefined) answers.push(plane().append(instruction, this.#stateKey(index), inBag(bytes)));
      cell.known = true;
      cell.stored = bytes;
      cell.written = false;
    }
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
  }

  #cell(index: number): Cell {
    const known = this.#cells[index];
    if (known !== undefined) return known;
    const { cache, cacheScope, codecs } = this.#store;
    const cached = cacheScope === undefined ? undefined : cache.get(this.#cacheKey(cacheScope, index));
    const cell: Cell = { known: cached !== undefined, stored: cached?.bytes, value: undefined, written: false };
    if (cell.stored !== undefined) cell.value = decode(codecs[index]!, cell.stored);
    this.#cells[index] = cell;
    return cell;
  }

  async #read(index: number, cell: Cell): Promise<void> {
    const { plane, instruction, codecs } = this.#store;
    const stored = lastOf(await plane().get(instruction, this.#stateKey(index)));
    cell.known = true;
    cell.stored = stored;
    if (!cell.written) cell.value = stored && decode(codecs[index]!, stored);
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

function inBag(bytes: Uint8Array): Uint8Array {
  writer.bytes(bytes);
  return writer.take();
}

/** Of a bag that should have one element or none. */
function lastOf(bag: Uint8Array): Uint8Array | undefined {
  const reader = new WireReader(bag);
  let last: Uint8Array | undefined;
  while (reader.left > 0) last = reader.bytes();
  return last;
}

function alike(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return Buffer.compare(one, other) === 0;
}
