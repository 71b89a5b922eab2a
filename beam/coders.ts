// How do our records travel through Beam? As bytes of our own codecs, which every runner can carry, under UTF-8 keys where keyed.
import { type AnyCodec, type Codec, decode, encode, struct, text } from "../schemas/codec.ts";
import type { Keyed } from "./dofn.ts";
import { BytesCoder, type Coder, GlobalWindowCoder, KVCoder, type Pipeline, StrUtf8Coder } from "./sdk.ts";

/** The codec of a keyed collection: the key decides order and state. */
export interface KeyedCodec<V> extends Codec<Keyed<V>> {
  readonly keyedBy: "text";
  readonly value: Codec<V>;
}

/** Marks an output as keyed: its elements are `{ key, value }`, and a keyed transform may take them. */
export function keyed<V>(value: Codec<V>): KeyedCodec<V> {
  return {
    keyedBy: "text",
    value,
    shape: { kind: "struct", fields: { key: text.shape, value: value.shape } },
    write(writer, element) {
      writer.text(element.key);
      value.write(writer, element.value);
    },
    read: (reader) => ({ key: reader.text(), value: value.read(reader) }),
    fault(element, path) {
      if (typeof element !== "object" || element === null) return `${path}: not a keyed element`;
      const { key, value: inner } = element as Partial<Keyed<unknown>>;
      return text.fault(key, `${path}.key`) ?? value.fault(inner, `${path}.value`);
    },
  };
}

export function isKeyed(codec: AnyCodec): codec is KeyedCodec<unknown> {
  return (codec as Partial<KeyedCodec<unknown>>).keyedBy === "text";
}

/** What a bounded pipeline begins with: one element that says nothing. */
export type Start = Record<never, never>;

/** Beam's impulse, which has no bytes, reads as it. */
export const start: Codec<Start> = struct({});

/** An element as Beam's own coders see it. */
export type Wire = Uint8Array | Keyed<Uint8Array>;

/** Throws where the value is not of the codec. */
export function toWire(codec: AnyCodec, value: unknown): Wire {
  if (!isKeyed(codec)) return encode(codec, value);
  const element = value as Keyed<unknown>;
  return { key: element.key, value: encode(codec.value, element.value) };
}

/** Throws CodecError where the bytes are not of the codec. */
export function fromWire(codec: AnyCodec, wire: Wire): unknown {
  if (codec === start && (wire as Uint8Array).length === 0) return {};
  if (!isKeyed(codec)) return decode(codec, wire as Uint8Array);
  const { key, value } = wire as Keyed<Uint8Array>;
  return { key, value: decode(codec.value, value) };
}

/** What the proto says of a collection: bytes, or kv(string_utf8, bytes). */
export function collectionCoder(codec: AnyCodec): Coder {
  return isKeyed(codec) ? (new KVCoder(new StrUtf8Coder(), new BytesCoder()) as Coder) : (new BytesCoder() as Coder);
}

/** The one element of a state cell's bag (Flink keeps bags only). */
export function stateCoder(): Coder {
  return new BytesCoder() as Coder;
}

/** Of timers under UTF-8 keys in the global window. */
export function timerCoder(pipeline: Pipeline): Coder {
  const componentCoderIds = [new StrUtf8Coder() as Coder, GlobalWindowCoder.INSTANCE as Coder].map((coder) =>
    pipeline.getCoderId(coder),
  );
  // The SDK has no timer coder; of a coder, construction asks for the proto alone.
  const protoOnly: Pick<Coder, "toProto"> = {
    toProto: () => ({ spec: { urn: TIMER_CODER_URN, payload: new Uint8Array() }, componentCoderIds }),
  };
  return protoOnly as Coder;
}

const TIMER_CODER_URN = "beam:coder:timer:v1";
