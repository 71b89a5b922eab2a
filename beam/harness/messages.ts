// How do the two messages that go by the thousand look in protobuf? StateRequest and Elements of beam_fn_api.proto, by hand: a tenth of the cost.
import { WireError, WireReader, WireWriter } from "./wire-bytes.ts";

/** Bag user state of the global window. */
export interface StateKey {
  transform: string;
  cell: string;
  /** In the nested encoding. */
  key: Uint8Array;
}

/** What the runner keeps under a token of its own: the rest of an iterable. */
export interface KeptKey {
  kept: Uint8Array;
}

export interface StateRequest {
  id: string;
  instruction: string;
  key: StateKey | KeptKey;
  /** `get`: the continuation token, empty at first. `append`: encoded elements. `clear`: nothing. */
  kind: "get" | "append" | "clear";
  bytes: Uint8Array;
}

export interface StateResponse {
  id: string;
  /** Empty where there is none. */
  error: string;
  data: Uint8Array;
  /** Of a get: empty where nothing is left. */
  continuation: Uint8Array;
}

/** Of a data stream, or of a timer family where `family` stands. */
export interface Frame {
  instruction: string;
  transform: string;
  family: string | undefined;
  bytes: Uint8Array;
  last: boolean;
}

const EMPTY = new Uint8Array();
const LENGTH_DELIMITED = 2;

const REQUEST_FIELD = { get: 1000, append: 1001, clear: 1002 } as const;

const spare = { request: new WireWriter(), key: new WireWriter(), inner: new WireWriter() };

export function encodeStateRequest({ id, instruction, key, kind, bytes }: StateRequest): Buffer {
  const { request, key: stateKey, inner } = spare;
  if ("kept" in key) {
    field(inner, 1, key.kept);
    field(stateKey, 1, inner.take()); // runner
  } else {
    text(inner, 1, key.transform);
    text(inner, 2, key.cell);
    field(inner, 4, key.key);
    field(stateKey, 3, inner.take()); // bag_user_state
  }
  text(request, 1, id);
  text(request, 2, instruction);
  field(request, 3, stateKey.take());
  if (kind !== "clear" && bytes.length > 0) field(inner, 1, bytes);
  field(request, REQUEST_FIELD[kind], inner.take());
  return request.take();
}

/** Throws WireError. */
export function decodeStateResponse(bytes: Uint8Array): StateResponse {
  const response: StateResponse = { id: "", error: "", data: EMPTY, continuation: EMPTY };
  eachField(bytes, (number, value) => {
    if (number === 1) response.id = value.toString();
    else if (number === 2) response.error = value.toString();
    else if (number === REQUEST_FIELD.get)
      eachField(value, (inner, part) => {
        if (inner === 1) response.continuation = part;
        else if (inner === 2) response.data = part;
      });
  });
  return response;
}

export function encodeElements(frames: readonly Frame[]): Buffer {
  const size = frames.reduce((sum, frame) => sum + frame.bytes.length + FRAME_OVERHEAD, 0);
  const writer = new WireWriter(size);
  for (const { instruction, transform, family, bytes, last } of frames) {
    const { inner } = spare;
    text(inner, 1, instruction);
    text(inner, 2, transform);
    if (family !== undefined) text(inner, 3, family);
    const bytesField = family === undefined ? 3 : 4;
    const lastField = family === undefined ? 4 : 5;
    const head = inner.take();
    // The bytes are written once, into the message itself: they may be megabytes.
    if (bytes.length > 0) {
      tag(inner, bytesField, LENGTH_DELIMITED);
      inner.uint(bytes.length);
    }
    const before = inner.take();
    tag(writer, family === undefined ? 1 : 2, LENGTH_DELIMITED);
    writer.uint(head.length + before.length + bytes.length + (last ? 2 : 0));
    writer.raw(head);
    writer.raw(before);
    writer.raw(bytes);
    if (last) {
      tag(writer, lastField, 0);
      writer.byte(1);
    }
  }
  return writer.end();
}

const FRAME_OVERHEAD = 256; // the ids of a frame; a guess that only spares growing

/** Throws WireError. */
export function decodeElements(bytes: Uint8Array): Frame[] {
  const frames: Frame[] = [];
  eachField(bytes, (number, value) => {
    if (number === 1 || number === 2) frames.push(frameOf(value, number === 2));
  });
  return frames;
}

function frameOf(bytes: Buffer, timers: boolean): Frame {
  const frame: Frame = { instruction: "", transform: "", family: timers ? "" : undefined, bytes: EMPTY, last: false };
  const shift = timers ? 1 : 0;
  eachField(bytes, (number, value, flag) => {
    if (number === 1) frame.instruction = value.toString();
    else if (number === 2) frame.transform = value.toString();
    else if (timers && number === 3) frame.family = value.toString();
    else if (number === 3 + shift) frame.bytes = value;
    else if (number === 4 + shift) frame.last = flag === 1;
  });
  return frame;
}

function tag(writer: WireWriter, number: number, kind: number): void {
  writer.uint(number * 8 + kind);
}

function field(writer: WireWriter, number: number, bytes: Uint8Array): void {
  tag(writer, number, LENGTH_DELIMITED);
  writer.bytes(bytes);
}

function text(writer: WireWriter, number: number, value: string): void {
  if (value === "") return;
  tag(writer, number, LENGTH_DELIMITED);
  writer.text(value);
}

const NOTHING = Buffer.alloc(0);

/** Gives each field its bytes, or its number where it is a varint. */
function eachField(bytes: Uint8Array, give: (number: number, value: Buffer, flag: number) => void): void {
  const reader = new WireReader(bytes);
  while (reader.left > 0) {
    const key = reader.uint();
    const number = Math.floor(key / 8);
    const kind = key % 8;
    if (kind === LENGTH_DELIMITED) give(number, reader.bytes(), 0);
    else if (kind === 0) give(number, NOTHING, Number(reader.int64()));
    else if (kind === 1) reader.skip(8);
    else if (kind === 5) reader.skip(4);
    else throw new WireError(`a field of the wire type ${kind}`);
  }
}
