// What does a bundle know of one bag of a key? What it has read, added and cleared: asked for once at most, and written once, at the bundle's end.
import { type AnyCodec, decode, encode } from "../../schemas/codec.ts";
import { WireReader, WireWriter } from "./wire-bytes.ts";

/** The bag at the runner. Promises reject where the runner or the plane fails. */
export interface BagPlace {
  readonly codec: AnyCodec;
  /** What it holds, where that is known without asking. */
  readonly cached: Uint8Array | undefined;
  get(): Promise<Uint8Array>;
  append(bytes: Uint8Array): Promise<void>;
  clear(): Promise<void>;
}

const NOTHING = new Uint8Array();
const BUFFER_BYTES = 128; // of what is added, at first

export class KeyBag {
  readonly #place: BagPlace;
  /** What the runner has, each element with its length before it; undefined while that is not known. */
  #stored: Uint8Array | undefined;
  #reading: Promise<void> | undefined;
  #cleared = false;
  /** In the same form. */
  #added: Uint8Array[] = [];
  #adding: WireWriter | undefined;

  constructor(place: BagPlace) {
    this.#place = place;
    this.#stored = place.cached;
  }

  /** What the runner has, or will have once the bundle is committed; undefined where that is not known. */
  get stored(): Uint8Array | undefined {
    return this.#stored;
  }

  /** Rejects where the runner does, or with CodecError. */
  async read(): Promise<unknown[]> {
    if (!this.#cleared && this.#stored === undefined) {
      this.#reading ??= this.#ask();
      await this.#reading;
    }
    const values: unknown[] = [];
    const parts = this.#cleared ? this.#parts() : [this.#stored ?? NOTHING, ...this.#parts()];
    for (const part of parts)
      for (const reader = new WireReader(part); reader.left > 0; ) values.push(decode(this.#place.codec, reader.bytes()));
    return values;
  }

  add(value: unknown): void {
    this.#adding ??= new WireWriter(BUFFER_BYTES);
    this.#adding.bytes(encode(this.#place.codec, value));
  }

  clear(): void {
    this.#cleared = true;
    this.#added = [];
    this.#adding = undefined;
  }

  /** Sends what has changed; the promises of the answers. */
  flush(): Promise<void>[] {
    const added = Buffer.concat(this.#parts());
    const before = this.#cleared ? NOTHING : this.#stored;
    const answers: Promise<void>[] = [];
    if (this.#cleared && this.#stored?.length !== 0) answers.push(this.#place.clear());
    if (added.length > 0) answers.push(this.#place.append(added));
    this.#stored = before && Buffer.concat([before, added]);
    this.#cleared = false;
    this.#added = [];
    return answers;
  }

  async #ask(): Promise<void> {
    this.#stored = await this.#place.get();
  }

  #parts(): Uint8Array[] {
    if (this.#adding !== undefined && this.#adding.length > 0) this.#added.push(this.#adding.take());
    return this.#added;
  }
}
