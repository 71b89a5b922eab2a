// How is an object read? At once where it fits in memory, else piece by piece; what breaks is gone on with, in the same generation.
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import type { Bucket, CreateReadStreamOptions, File } from "@google-cloud/storage";
import { StoreError } from "../../../ports/versioned-table.ts";
import { unlessAbsent } from "./asking.ts";
import { type Asked, faultOf, storeErrorOf } from "./faults.ts";
import { inTime, type Patience, patiently } from "./patience.ts";

export interface Reading extends Patience {
  bucket: Bucket;
}

/** Undefined where there is no such object; cut off where the object ends. */
export async function readObject(
  reading: Reading,
  name: string,
  range?: { from: number; length: number },
): Promise<Uint8Array | undefined> {
  if (range?.length === 0) return new Uint8Array();
  const wanted = range === undefined ? {} : { start: range.from, end: range.from + range.length - 1 };
  const whole = async () => {
    const { stream } = download(reading.bucket.file(name), wanted);
    const pieces: Uint8Array[] = [];
    for await (const piece of stream) pieces.push(piece);
    return Buffer.concat(pieces);
  };
  try {
    return await unlessAbsent(reading, askedOf(reading, name), whole, range?.length);
  } catch (error) {
    if (error instanceof StoreError && faultOf(error.cause) === "beyond") return new Uint8Array();
    throw error;
  }
}

/** Who reads a file for hours may have its connection cut while it rests; beyond so many something is wrong. */
const BREAKS_MAX = 100;

/** What the first answer told; the others are asked for the same. */
interface Told {
  generation: string;
  bytes: number;
  md5: string | undefined;
}

interface Progress {
  at: number;
  breaks: number;
  told?: Told | undefined;
  download?: Download | undefined;
}

interface Download {
  stream: Readable;
  pieces: AsyncIterator<Uint8Array>;
  close: (error?: Error) => void;
}

/** The whole object. Each piece is waited and asked for as a call is, so that a slow reader is no fault. Rejects with StoreError. */
export async function* piecesOf(reading: Reading, name: string): AsyncGenerator<Uint8Array> {
  const asked = askedOf(reading, name);
  const progress: Progress = { at: 0, breaks: 0 };
  const md5 = createHash("md5");
  try {
    for (;;) {
      if (progress.breaks > BREAKS_MAX) throw broken(asked, progress.breaks);
      const piece = await patiently(reading, () => nextPiece(reading, name, progress));
      if (piece === undefined) break;
      progress.at += piece.length;
      md5.update(piece);
      yield piece;
    }
    const expected = progress.told?.md5;
    if (expected !== undefined && md5.digest("base64") !== expected)
      throw storeErrorOf(new Error("its MD5 is another"), asked, "damaged");
  } catch (error) {
    if (faultOf(error) === "absent" && progress.at > 0) throw replaced(asked);
    throw storeErrorOf(error, asked);
  } finally {
    progress.download?.close();
  }
}

/** Undefined at the end. */
async function nextPiece(reading: Reading, name: string, progress: Progress): Promise<Uint8Array | undefined> {
  progress.download ??= goOn(reading, name, progress);
  const { pieces, close } = progress.download;
  try {
    const next = await inTime(reading.clock, 0, pieces.next());
    if (!next.done) return next.value;
    const { at, told } = progress;
    if (told !== undefined && at < told.bytes) throw new Error(`the answer ended after ${at} of ${told.bytes} bytes`);
    return undefined;
  } catch (error) {
    close();
    progress.download = undefined;
    if (progress.at === progress.told?.bytes) return undefined;
    progress.breaks++;
    throw error;
  }
}

function goOn({ bucket }: Reading, name: string, progress: Progress): Download {
  const { at, told } = progress;
  if (at > 0 && told === undefined) throw new Error("its reading broke, and no generation was told to go on with");
  const file = bucket.file(name, at > 0 ? { generation: told!.generation } : {});
  const going = download(file, at > 0 ? { start: at } : { validation: false });
  going.stream.on("response", ({ statusCode, headers }: Answer) => {
    if (statusCode !== 200) return;
    if (at === 0) progress.told = toldBy(headers);
    else going.close(new Error("all bytes were sent where only the last were asked for"));
  });
  return going;
}

interface Answer extends Readable {
  statusCode: number;
  headers: Readonly<Record<string, string>>;
  request: { agent: unknown };
}

function download(file: File, options: CreateReadStreamOptions): Download {
  const stream: Readable = file.createReadStream({ ...options, decompress: false });
  let answered = false;
  let closed = false;
  const close = (error?: Error) => {
    closed = true;
    // not while the client takes up an answer, nor before one: it pipes all the same, which throws where nobody catches it
    if (answered) queueMicrotask(() => stream.destroy(error));
  };
  stream.on("response", (answer: Answer) => {
    answered = true;
    // the client hangs eleven listeners on an answer, for which Node would warn at each of them
    answer.setMaxListeners(0);
    // and where one breaks, or is left early, it would cut the connections of all calls under way, which share this agent
    answer.request.agent = false;
    if (closed) close();
  });
  return { stream, pieces: stream[Symbol.asyncIterator](), close };
}

function toldBy(headers: Answer["headers"]): Told | undefined {
  const generation = headers["x-goog-generation"];
  const bytes = Number(headers["x-goog-stored-content-length"]);
  const md5 = /\bmd5=([\w+/=]+)/.exec(headers["x-goog-hash"] ?? "")?.[1];
  return generation === undefined ? undefined : { generation, bytes, md5 };
}

function askedOf({ bucket }: Reading, object: string): Asked {
  return { verb: "read", bucket: bucket.name, object };
}

function replaced(asked: Asked): StoreError {
  return new StoreError(
    `cannot read gs://${asked.bucket}/${asked.object} on: it was replaced or deleted meanwhile; read it anew`,
  );
}

function broken(asked: Asked, breaks: number): StoreError {
  return new StoreError(`cannot read gs://${asked.bucket}/${asked.object}: the reading broke ${breaks} times`);
}
