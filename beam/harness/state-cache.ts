// What is known of a key's state when its next bundle begins? What a committed bundle left, as long as the runner's cache token is the same.

/** Of keys, values and the map itself. */
const CACHE_BYTES = 64 * 1024 * 1024;
/** Of an entry, beside its key and value: its place in the map, its objects. */
const ENTRY_BYTES = 160;

/** What a cell holds; undefined where it is known to hold nothing. */
export type Known = { bytes: Uint8Array | undefined };

/** Least recently used goes first. A token that the runner no longer gives is never asked for again and goes the same way. */
export class StateCache {
  readonly #entries = new Map<string, Known>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number = CACHE_BYTES) {
    this.#bytesMax = bytesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Known | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  /** Keeps a copy. */
  set(key: string, bytes: Uint8Array | undefined): void {
    this.delete(key);
    // A copy of its own: what came from the wire is a piece of a far larger buffer.
    const entry: Known = { bytes: bytes && Uint8Array.from(bytes) };
    this.#entries.set(key, entry);
    this.#bytes += sizeOf(key, entry);
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= sizeOf(key, entry);
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }
}

function sizeOf(key: string, { bytes }: Known): number {
  return key.length + (bytes?.length ?? 0) + ENTRY_BYTES;
}
