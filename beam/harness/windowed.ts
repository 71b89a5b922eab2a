// When does an element stand? In the header before each value: a time, the global window, a pane (beam_runner_api.proto, WINDOWED_VALUE).

import { WireError, type WireReader, WireWriter } from "./wire-bytes.ts";
import type { Coders, WireCoder } from "./wire-coders.ts";
import { wireCoder } from "./wire-coders.ts";

/** The header's bytes; what an element makes carries its header on. */
export type Header = Uint8Array;

const TIME_BYTES = 8;
const SIGN = 0x80000000;
const WORD = 2 ** 32;
/** First and last of its window, of no trigger's firing. */
const NO_FIRING = 0x0f;
/** What the indices of a pane need, by the high half of its first byte. */
const PANE_INDICES: readonly number[] = [0, 1, 2];

/** The value's coder of a windowed_value. Throws where its windows are others than the global one. */
export function windowedCoder(coders: Coders, id: string): WireCoder {
  const proto = coders[id];
  if (proto?.spec?.urn !== "beam:coder:windowed_value:v1")
    throw new Error(`the coder '${id}' of a data port is no windowed value but ${proto?.spec?.urn ?? "missing"}`);
  const [value, window] = proto.componentCoderIds;
  mustBeGlobal(coders, window ?? "");
  return wireCoder(coders, value ?? "");
}

export function mustBeGlobal(coders: Coders, windowCoderId: string): void {
  const urn = coders[windowCoderId]?.spec?.urn;
  if (urn !== "beam:coder:global_window:v1") throw new Error(`the harness knows the global window alone, not ${urn}`);
}

/** A view. Throws WireError. */
export function readHeader(reader: WireReader): Header {
  const from = reader.at;
  reader.skip(TIME_BYTES);
  readWindow(reader);
  readPane(reader);
  return reader.viewFrom(from);
}

export function readWindow(reader: WireReader): void {
  const count = reader.word();
  if (count !== 1) throw new WireError(`an element in ${count} windows`);
}

export function readPane(reader: WireReader): void {
  const indices = PANE_INDICES[reader.byte() >> 4];
  if (indices === undefined) throw new WireError("a pane of an unknown encoding");
  for (let left = indices; left > 0; left--) reader.uint();
}

/** The header of what comes into being at a time (Unix ms). */
export function headerAt(timeMs: number): Header {
  const writer = new WireWriter(TIME_BYTES + 5);
  writeTime(writer, timeMs);
  writer.word(1);
  writer.byte(NO_FIRING);
  return writer.take();
}

/** Beam's times are signed and ordered by their bytes. */
export function writeTime(writer: WireWriter, timeMs: number): void {
  const high = Math.floor(timeMs / WORD);
  writer.word((high ^ SIGN) >>> 0);
  writer.word(timeMs - high * WORD);
}

/** Unix ms; exact within 2^53, the ends of Beam's time are a little beyond. */
export function timeOf(header: Header): number {
  const view = new DataView(header.buffer, header.byteOffset, TIME_BYTES);
  return ((view.getUint32(0) ^ SIGN) | 0) * WORD + view.getUint32(4);
}
