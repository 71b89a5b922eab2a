// How does a record become bytes and come back? One declaration gives its type, its guard and its compact form.

/** Bytes written so far; grows by doubling. */
export class Writer {
  #bytes = Buffer.allocUnsafe(256);
  #length = 0;

  #room(extra: number): number {
    const at = this.#length;
    this.#length += extra;
    if (this.#length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    return at;
  }

  /** A whole number from 0 to 2^53 - 1 as a base-128 varint. */
  uint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      const at = this.#room(1);
      this.#bytes[at] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    const at = this.#room(1);
    this.#bytes[at] = rest;
  }

  bytes(value: Uint8Array): void {
    this.uint(value.length);
    const at = this.#room(value.length);
    this.#bytes.set(value, at);
  }

  text(value: string): void {
    const size = Buffer.byteLength(value);
    this.uint(size);
    const at = this.#room(size);
    this.#bytes.write(value, at);
  }

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}

/** Reads what Writer wrote. Throws CodecError where the bytes end early or do not fit. */
export class Reader {
  #at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  uint(): number {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined || scale > 2 ** 49) throw new CodecError("a whole number is cut short or too long");
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#take(this.uint()));
  }

  text(): string {
    return this.#take(this.uint()).toString("utf8");
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length)
      throw new CodecError(`${length} bytes are asked for, ${this.#bytes.length - this.#at} are left`);
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }
}

/** The bytes are not a record of this shape and version. */
export class CodecError extends Error {}

/** What a column of this kind is in a warehouse table, and how records of it are printed. */
export type Kind =
  | { kind: "text" | "uint" | "bool" | "bytes" }
  | { kind: "list"; of: Kind }
  | { kind: "optional"; of: Kind }
  | { kind: "struct"; fields: Record<string, Kind> };

export interface Codec<T> {
  readonly shape: Kind;
  write(writer: Writer, value: T): void;
  read(reader: Reader): T;
  /** What is wrong with the value, as `path: reason`, or undefined when it is a T. */
  fault(value: unknown, path: string): string | undefined;
}

export type TypeOf<C> = C extends Codec<infer T> ? T : never;

const simple = <T>(
  kind: "text" | "uint" | "bool" | "bytes",
  is: (value: unknown) => boolean,
  write: (writer: Writer, value: T) => void,
  read: (reader: Reader) => T,
): Codec<T> => ({
  shape: { kind },
  write,
  read,
  fault: (value, path) => (is(value) ? undefined : `${path}: not a ${kind}`),
});

export const text: Codec<string> = simple(
  "text",
  (value) => typeof value === "string",
  (w, v) => w.text(v),
  (r) => r.text(),
);
/** A whole number from 0 to 2^53 - 1: counts, sizes, Unix ms. */
export const uint: Codec<number> = simple(
  "uint",
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  (w, v) => w.uint(v),
  (r) => r.uint(),
);
export const bool: Codec<boolean> = simple(
  "bool",
  (value) => typeof value === "boolean",
  (w, v) => w.uint(v ? 1 : 0),
  (r) => r.uint() === 1,
);
export const bytes: Codec<Uint8Array> = simple(
  "bytes",
  (value) => value instanceof Uint8Array,
  (w, v) => w.bytes(v),
  (r) => r.bytes(),
);

/** One of a closed list of words; stored as its place in the list, so a list only ever grows at its end. */
export function oneOf<const W extends string>(words: readonly W[]): Codec<W> {
  const place = new Map<string, number>(words.map((word, index) => [word, index]));
  return {
    shape: { kind: "text" },
    write: (writer, value) => writer.uint(place.get(value) ?? failed(`'${value}' is none of ${words.join(", ")}`)),
    read: (reader) => words[reader.uint()] ?? failed(`a place beyond ${words.join(", ")}`),
    fault: (value, path) => (place.has(value as string) ? undefined : `${path}: none of ${words.join(", ")}`),
  };
}

export function list<T>(of: Codec<T>): Codec<T[]> {
  return {
    shape: { kind: "list", of: of.shape },
    write(writer, value) {
      writer.uint(value.length);
      for (const item of value) of.write(writer, item);
    },
    read(reader) {
      const items: T[] = [];
      for (let left = reader.uint(); left > 0; left--) items.push(of.read(reader));
      return items;
    },
    fault(value, path) {
      if (!Array.isArray(value)) return `${path}: not a list`;
      for (const [index, item] of value.entries()) {
        const fault = of.fault(item, `${path}[${index}]`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    },
  };
}

/** A field that may be absent. Only struct gives it meaning. */
export interface Optional<T> extends Codec<T> {
  readonly optional: true;
}

export function optional<T>(of: Codec<T>): Optional<T> {
  return { ...of, shape: { kind: "optional", of: of.shape }, optional: true };
}

// biome-ignore lint/suspicious/noExplicitAny: a codec both takes and gives its T, so only any fits every field
export type AnyCodec = Codec<any>;
type Fields = Record<string, AnyCodec>;
type Required<F> = { [K in keyof F as F[K] extends { optional: true } ? never : K]: TypeOf<F[K]> };
type Maybe<F> = { [K in keyof F as F[K] extends { optional: true } ? K : never]?: TypeOf<F[K]> };
type Flat<T> = { [K in keyof T]: T[K] };
export type Struct<F> = Flat<Required<F> & Maybe<F>>;

/** Named fields in the order given. Optional ones cost a bit each in a leading mask; new ones are
 * added as optional, at the end: without a new version only where the struct has an optional field already. */
export function struct<const F extends Fields>(fields: F): Codec<Struct<F>> {
  const entries = Object.entries(fields) as unknown as [string, Codec<unknown> & { optional?: true }][];
  const optionals = entries.filter(([, codec]) => codec.optional).map(([name]) => name);
  return {
    shape: { kind: "struct", fields: Object.fromEntries(entries.map(([name, codec]) => [name, codec.shape])) },
    write(writer, value) {
      const record = value as Record<string, unknown>;
      let mask = 0;
      for (let index = optionals.length - 1; index >= 0; index--)
        mask = mask * 2 + (record[optionals[index]!] === undefined ? 0 : 1);
      if (optionals.length > 0) writer.uint(mask);
      for (const [name, codec] of entries) if (!codec.optional || record[name] !== undefined) codec.write(writer, record[name]);
    },
    read(reader) {
      const record: Record<string, unknown> = {};
      let mask = optionals.length > 0 ? reader.uint() : 0;
      for (const [name, codec] of entries) {
        if (codec.optional) {
          const present = mask % 2 === 1;
          mask = Math.floor(mask / 2);
          if (!present) continue;
        }
        record[name] = codec.read(reader);
      }
      return record as Struct<F>;
    },
    fault(value, path) {
      if (typeof value !== "object" || value === null) return `${path}: not a record`;
      const record = value as Record<string, unknown>;
      for (const [name, codec] of entries) {
        if (codec.optional && record[name] === undefined) continue;
        const fault = codec.fault(record[name], path === "" ? name : `${path}.${name}`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    },
  };
}

/** A tagged union: the word in `kind` chooses the struct. */
export function union<const V extends Record<string, AnyCodec>>(
  variants: V,
): Codec<{ [K in keyof V & string]: Flat<{ kind: K } & TypeOf<V[K]>> }[keyof V & string]> {
  const word = oneOf(Object.keys(variants));
  const codecs: Record<string, AnyCodec> = variants;
  return {
    shape: { kind: "struct", fields: { kind: { kind: "text" } } },
    write(writer, value) {
      const { kind } = value as unknown as { kind: string };
      word.write(writer, kind);
      codecs[kind]!.write(writer, value);
    },
    read(reader) {
      const kind = word.read(reader);
      return { kind, ...codecs[kind]!.read(reader) };
    },
    fault(value, path) {
      const kind = (value as { kind?: unknown } | null)?.kind;
      return word.fault(kind, `${path}.kind`) ?? codecs[kind as string]!.fault(value, path);
    },
  };
}

function failed(message: string): never {
  throw new CodecError(message);
}

/** One byte for the version of the shape, then the record. */
export function encode<T>(codec: Codec<T>, value: T, version = 1): Uint8Array {
  const writer = new Writer();
  writer.uint(version);
  codec.write(writer, value);
  return writer.finish();
}

export function decode<T>(codec: Codec<T>, bytes: Uint8Array, version = 1): T {
  const reader = new Reader(bytes);
  const found = reader.uint();
  if (found !== version) throw new CodecError(`a record of version ${found}; this program reads version ${version}`);
  const value = codec.read(reader);
  if (!reader.done) throw new CodecError("bytes are left after the record");
  return value;
}
