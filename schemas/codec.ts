// How does a record become bytes and come back? One declaration gives its type, its guard and its compact form.
import { CodecError, Reader, Writer } from "./record-bytes.ts";
import { type AnyRecord, type Field, type Unrolled, unrolled } from "./unrolled.ts";

export { CodecError } from "./record-bytes.ts";

/** What a column of this kind is in a warehouse table, and how records of it are printed. */
export type Kind =
  | { kind: "text" | "uint" | "bool" | "bytes" }
  | { kind: "list"; of: Kind }
  | { kind: "optional"; of: Kind }
  | { kind: "struct"; fields: Record<string, Kind> };

export interface Codec<T> {
  readonly shape: Kind;
  /** Of the bytes, 1 where absent; another version is not read. Counts only for a whole record. */
  readonly version?: number;
  /** `record`: the record that the value is a field of. */
  write(writer: Writer, value: T, record?: AnyRecord): void;
  /** `record`: the fields before this one. */
  read(reader: Reader, record?: AnyRecord): T;
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

/** Exactly `size` bytes; their number is not stored. */
export function fixed(size: number): Codec<Uint8Array> {
  return {
    shape: bytes.shape,
    write: (writer, value) =>
      value.length === size ? writer.raw(value) : failed(`${value.length} bytes where ${size} belong`),
    read: (reader) => reader.raw(size),
    fault(value, path) {
      const wrong = value instanceof Uint8Array && value.length !== size;
      return wrong ? `${path}: ${value.length} bytes, not ${size}` : bytes.fault(value, path);
    },
  };
}

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

/** A field that takes a bit and no more where its value is the usual one. Only struct gives it meaning. */
export interface Usual {
  readonly usual: (record: AnyRecord) => unknown;
}

/** `usual`: the value itself, or what gives it from the fields declared before this one. Of an optional field it is the usual value where there is one. */
export function usually<C extends AnyCodec>(of: C, usual: TypeOf<C> | Usual["usual"]): C & Usual {
  return { ...of, usual: typeof usual === "function" ? (usual as Usual["usual"]) : () => usual };
}

// biome-ignore lint/suspicious/noExplicitAny: a codec both takes and gives its T, so only any fits every field
export type AnyCodec = Codec<any>;
type Fields = Record<string, AnyCodec>;
type Required<F> = { [K in keyof F as F[K] extends { optional: true } ? never : K]: TypeOf<F[K]> };
type Maybe<F> = { [K in keyof F as F[K] extends { optional: true } ? K : never]?: TypeOf<F[K]> };
type Flat<T> = { [K in keyof T]: T[K] };
export type Struct<F> = Flat<Required<F> & Maybe<F>>;

/** Named fields in the order given. Optional ones and ones with a usual value cost a bit each in a leading mask, those that are both
 * cost two, and the highest bits only where they are set; so what is rare stands last. New fields are added as optional, at the end:
 * without a new version only where the struct has a mask already. */
export function struct<const F extends Fields>(fields: F): Codec<Struct<F>> {
  const entries = Object.entries(fields);
  const { bits, ...record } = visited(entries);
  return {
    shape: { kind: "struct", fields: Object.fromEntries(entries.map(([name, codec]) => [name, codec.shape])) },
    write(writer, value) {
      const mask = record.maskOf(value);
      if (bits > 0) writer.uint(mask);
      record.write(writer, value, mask);
    },
    read(reader) {
      const mask = bits > 0 ? reader.uint() : 0;
      if (mask >= 2 ** bits) failed("fields that this program does not know");
      return record.read(reader, mask) as Struct<F>;
    },
    fault(value, path) {
      if (typeof value !== "object" || value === null) return `${path}: not a record`;
      const record = value as AnyRecord;
      for (const [name, codec] of entries) {
        if ("optional" in codec && record[name] === undefined) continue;
        const fault = codec.fault(record[name], path === "" ? name : `${path}.${name}`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    },
  };
}

const MASK_BITS_MAX = 30; // whole numbers with bit operations have no more

function visited(entries: readonly [string, AnyCodec & Partial<Usual>][]): Unrolled & { bits: number } {
  let bits = 0;
  const fields = entries.map(([name, codec]): Field => {
    const { write, read, usual } = codec;
    const present = "optional" in codec ? 2 ** bits++ : 0;
    const other = usual === undefined ? 0 : 2 ** bits++;
    return { name, present, other, usual: usual ?? (() => undefined), write, read };
  });
  if (bits > MASK_BITS_MAX) throw new Error(`a struct has ${MASK_BITS_MAX} mask bits at most, these fields need ${bits}`);
  return { ...unrolled(fields), bits };
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
      const record = codecs[kind]!.read(reader);
      record.kind = kind; // it is nobody else's yet
      return record;
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

/** The codec of records whose bytes have changed so that older ones cannot be read. */
export function versioned<T>(codec: Codec<T>, version: number): Codec<T> {
  return { ...codec, version };
}

// One of each for all records; taken away while in use, so that a codec that encodes or fails finds or leaves none half-used.
let spareWriter: Writer | undefined;
let spareReader: Reader | undefined;

/** One byte for the version of the shape, then the record. `key`: the row key that it will stand under, and has to be read with. */
export function encode<T>(codec: Codec<T>, value: T, key = ""): Uint8Array {
  const writer = spareWriter ?? new Writer();
  spareWriter = undefined;
  writer.begin(key);
  writer.uint(codec.version ?? 1);
  codec.write(writer, value);
  const written = writer.finish();
  spareWriter = writer;
  return written;
}

/** Throws CodecError where the bytes are not of the codec, or of another version of it. */
export function decode<T>(codec: Codec<T>, bytes: Uint8Array, key = ""): T {
  const reader = spareReader ?? new Reader();
  spareReader = undefined;
  reader.begin(bytes, key);
  const found = reader.uint();
  const version = codec.version ?? 1;
  if (found !== version) failed(`a record of version ${found}; this program reads version ${version}`);
  const value = codec.read(reader);
  if (!reader.finish()) failed("bytes are left after the record");
  spareReader = reader;
  return value;
}
