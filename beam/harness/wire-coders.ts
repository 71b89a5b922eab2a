// How do the elements of a stage stand on the wire? By the coders that its descriptor names (beam_runner_api.proto, StandardCoders).
import type { CoderProto } from "../fn-sdk.ts";
import { WireReader as Reader, type WireReader, WireWriter } from "./wire-bytes.ts";
import { readIterable } from "./wire-iterables.ts";

/**
 * `whole`: the value is all that its surrounding holds, so that its own length is left out (Beam's outer context).
 * Bytes are Uint8Array and views of what was read, text is string, kv is { key, value }, an iterable
 * a WireIterable, varint a bigint, double
 * a number, a global window undefined. Reading throws WireError.
 */
export interface WireCoder {
  write(writer: WireWriter, value: unknown, whole?: boolean): void;
  read(reader: WireReader, whole?: boolean): unknown;
}

export type Coders = Readonly<Record<string, CoderProto>>;

/** Throws where the coder, or one that it is made of, is none that the harness knows. */
export function wireCoder(coders: Coders, id: string, depth = 0): WireCoder {
  const proto = coders[id];
  if (proto === undefined) throw new Error(`no coder '${id}' stands in the descriptor`);
  if (depth > DEPTH_MAX) throw new Error(`the coder '${id}' is made of itself`);
  const urn = proto.spec?.urn ?? "";
  const make = makers[urn];
  if (make === undefined) throw new Error(`the coder '${id}' is of a kind that the harness does not know: ${urn || "none"}`);
  const parts = proto.componentCoderIds.map((part) => wireCoder(coders, part, depth + 1));
  if (parts.length !== make.length) throw new Error(`the coder '${id}' (${urn}) has ${parts.length} components`);
  return make(...parts);
}

const DEPTH_MAX = 32; // coders in coders: ours have six, and a circle has no end

const bytes: WireCoder = {
  write: (writer, value, whole) => (whole ? writer.raw(value as Uint8Array) : writer.bytes(value as Uint8Array)),
  read: (reader, whole) => (whole ? reader.view(reader.left) : reader.bytes()),
};

const text: WireCoder = {
  write: (writer, value, whole) => (whole ? writer.rawText(value as string) : writer.text(value as string)),
  read: (reader, whole) => (whole ? reader.rawText(reader.left) : reader.text()),
};

const varint: WireCoder = {
  write: (writer, value) => writer.int64(BigInt(value as bigint)),
  read: (reader) => reader.int64(),
};

const double: WireCoder = {
  write: (writer, value) => writer.double(value as number),
  read: (reader) => reader.double(),
};

const globalWindow: WireCoder = { write: () => undefined, read: () => undefined };

function kv(key: WireCoder, value: WireCoder): WireCoder {
  return {
    write(writer, pair, whole) {
      key.write(writer, (pair as Pair).key);
      value.write(writer, (pair as Pair).value, whole);
    },
    read: (reader, whole) => ({ key: key.read(reader), value: value.read(reader, whole) }),
  };
}

interface Pair {
  key: unknown;
  value: unknown;
}

function iterable(of: WireCoder, stateBacked: boolean): WireCoder {
  return {
    write(writer, values) {
      writer.word((values as unknown[]).length);
      for (const value of values as unknown[]) of.write(writer, value);
    },
    read: (reader) => readIterable(reader, of, stateBacked),
  };
}

function lengthPrefix(of: WireCoder): WireCoder {
  return {
    write(writer, value) {
      const inner = new WireWriter();
      of.write(inner, value, true);
      writer.bytes(inner.take());
    },
    read: (reader) => of.read(new Reader(reader.bytes()), true),
  };
}

const makers: Readonly<Record<string, (...parts: WireCoder[]) => WireCoder>> = {
  "beam:coder:bytes:v1": () => bytes,
  "beam:coder:string_utf8:v1": () => text,
  "beam:coder:varint:v1": () => varint,
  "beam:coder:double:v1": () => double,
  "beam:coder:global_window:v1": () => globalWindow,
  "beam:coder:kv:v1": (key, value) => kv(key!, value!),
  "beam:coder:iterable:v1": (of) => iterable(of!, false),
  "beam:coder:state_backed_iterable:v1": (of) => iterable(of!, true),
  "beam:coder:length_prefix:v1": (of) => lengthPrefix(of!),
};
