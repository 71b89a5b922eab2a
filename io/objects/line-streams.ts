// How do lines become the bytes of a file, and bytes lines again? Streaming, packed where the name ends in .gz, and counted on the way.
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { createGunzip, createGzip } from "node:zlib";
import type { WrittenFile } from "../../ports/day-files.ts";
import { COMPRESSION_LEVEL } from "./gzip-members.ts";

/** The bytes of a file, some at a time. */
export type Bytes = AsyncIterable<Uint8Array>;

export interface LinesInto {
  file: FileHandle;
  /** As gzip. */
  packed: boolean;
  /** Given each piece of the file when it is written. */
  onBytes?: (piece: Uint8Array) => void;
}

const CHUNK_CHARS = 64 * 1024; // of lines that are written at once

export function isPacked(name: string): boolean {
  return name.endsWith(".gz");
}

/** How the bytes of a file are read as lines. */
export interface LinesIn {
  /** As gzip. */
  packed: boolean;
  /** Nobody writes the file on: a last line without its end is one. */
  whole: boolean;
}

/** Some lines at a time. Rejects where the bytes are not one or more whole gzip members, as it does where their source does. */
export async function* linesOf(bytes: Bytes, { packed, whole }: LinesIn): AsyncGenerator<string[]> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const piece of packed ? unpacked(bytes) : bytes) {
    const lines = decoder.write(Buffer.from(piece.buffer, piece.byteOffset, piece.length)).split("\n");
    lines[0] = rest + lines[0]!; // not before the splitting, or a long line would be searched again with each piece
    rest = lines.pop()!;
    if (lines.length > 0) yield lines;
  }
  rest += decoder.end();
  if (whole && rest !== "") yield [rest];
}

/** Writes at the file's place; neither syncs nor closes it. The same lines give the same bytes. */
export async function writeLinesInto(
  { file, packed, onBytes }: LinesInto,
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<Omit<WrittenFile, "name">> {
  const seen = { rows: 0 };
  const counted = counter();
  const sink = async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) {
      await file.appendFile(piece);
      counted.add(piece);
      onBytes?.(piece);
    }
  };
  const text = Readable.from(chunksOf(lines, seen));
  if (packed) await pipeline(text, createGzip({ level: COMPRESSION_LEVEL }), sink);
  else await pipeline(text, sink);
  return { rows: seen.rows, ...counted.told() };
}

export async function digestOf(bytes: Bytes): Promise<Omit<WrittenFile, "name" | "rows">> {
  const counted = counter();
  for await (const piece of bytes) counted.add(piece);
  return counted.told();
}

/** Reads once. Rejects as linesOf does. */
export async function measureOf(bytes: Bytes, { packed, whole }: LinesIn): Promise<Omit<WrittenFile, "name">> {
  const counted = counter();
  const seen = { all: false };
  const passing = countedOn(bytes, counted.add, seen);
  let rows = 0;
  let last = LINE_END;
  for await (const piece of packed ? unpacked(passing) : passing) {
    rows += lineEndsIn(piece);
    last = piece.at(-1) ?? last;
  }
  if (whole && last !== LINE_END) rows++;
  if (!seen.all) throw new Error("bytes stand behind the last gzip member"); // zeros, at which unpacking ends
  return { rows, ...counted.told() };
}

function unpacked(bytes: Bytes): Bytes {
  const text = createGunzip();
  // it fails with the source, and ends it with itself; who reads the text is told
  pipeline(bytes, text).catch(() => {});
  return text;
}

async function* countedOn(bytes: Bytes, add: (piece: Uint8Array) => void, seen: { all: boolean }): Bytes {
  for await (const piece of bytes) {
    add(piece);
    yield piece;
  }
  seen.all = true;
}

function counter() {
  const hash = createHash("sha256");
  let bytes = 0;
  return {
    add(piece: Uint8Array) {
      hash.update(piece);
      bytes += piece.length;
    },
    told: () => ({ bytes, sha256: hash.digest("hex") }),
  };
}

const LINE_END = 10;

function lineEndsIn(piece: Uint8Array): number {
  let ends = 0;
  for (let at = piece.indexOf(LINE_END); at >= 0; at = piece.indexOf(LINE_END, at + 1)) ends++;
  return ends;
}

async function* chunksOf(lines: Iterable<string> | AsyncIterable<string>, seen: { rows: number }): AsyncGenerator<Buffer> {
  let chunk = "";
  for await (const line of lines) {
    chunk += `${line}\n`;
    seen.rows++;
    if (chunk.length < CHUNK_CHARS) continue;
    yield Buffer.from(chunk);
    chunk = "";
  }
  if (chunk !== "") yield Buffer.from(chunk);
}
