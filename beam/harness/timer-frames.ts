// How do timers travel? As key, tag, window, then a bit that clears it, or when it fires and what it holds (beam_runner_api.proto, TIMER).

import { type Header, mustBeGlobal, readPane, readWindow, writeTime } from "./windowed.ts";
import type { WireReader, WireWriter } from "./wire-bytes.ts";
import { type Coders, type WireCoder, wireCoder } from "./wire-coders.ts";

/** Undefined `fireAt`: the timer is cleared. Times in Unix ms. */
export interface TimerSetting {
  key: string;
  fireAt: number | undefined;
  /** The time of what it will emit: the watermark is held until it has fired. */
  holdAt: number;
}

/** A timer that fired; when it was due is not told, since some runners tell something else. */
export interface FiredTimer {
  key: string;
  /** Of what it emits: at the time that it held. */
  header: Header;
}

export interface TimerCoder {
  write(writer: WireWriter, setting: TimerSetting): void;
  /** Undefined where it tells of a cleared timer. Throws WireError. */
  read(reader: WireReader): FiredTimer | undefined;
}

/** The end of Date's time: later timers fire then. */
const FIRE_AT_MAX = 8.64e15;
const TIME_BYTES = 8;
const NO_FIRING = 0x0f;

/** Throws where it is the coder of something else. */
export function timerCoder(coders: Coders, id: string): TimerCoder {
  const proto = coders[id];
  if (proto?.spec?.urn !== "beam:coder:timer:v1") throw new Error(`the coder '${id}' of a timer family is none of timers`);
  const [keyId, windowId] = proto.componentCoderIds;
  mustBeGlobal(coders, windowId ?? "");
  const key = wireCoder(coders, keyId ?? "");
  return { write: (writer, setting) => write(writer, key, setting), read: (reader) => read(reader, key) };
}

function write(writer: WireWriter, key: WireCoder, { key: of, fireAt, holdAt }: TimerSetting): void {
  key.write(writer, of);
  writer.text(""); // the tag tells the timers of one family and key apart; ours has one
  writer.word(1);
  writer.byte(fireAt === undefined ? 1 : 0);
  if (fireAt === undefined) return;
  // Never before its time: a fraction of a millisecond counts as a whole one.
  writeTime(writer, Math.ceil(Math.max(-FIRE_AT_MAX, Math.min(fireAt, FIRE_AT_MAX))));
  writeTime(writer, holdAt);
  writer.byte(NO_FIRING);
}

function read(reader: WireReader, keyCoder: WireCoder): FiredTimer | undefined {
  const key = keyCoder.read(reader) as string;
  reader.text();
  readWindow(reader);
  if (reader.byte() === 1) return undefined;
  reader.skip(TIME_BYTES);
  const hold = reader.view(TIME_BYTES);
  const from = reader.at;
  readPane(reader);
  return { key, header: Buffer.concat([hold, ONE_WINDOW, reader.viewFrom(from)]) };
}

const ONE_WINDOW = Uint8Array.of(0, 0, 0, 1);
