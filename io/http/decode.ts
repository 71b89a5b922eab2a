// Which bytes did the server's content codings stand for? RFC 9110 8.4.1 (gzip, deflate), RFC 7932 (br), RFC 9659 (zstd).
import { pipeline, type Transform } from "node:stream";
import * as zlib from "node:zlib";
import { gunzipMembers, startsMember } from "./gzip-members.ts";
import { BodyCut } from "./incoming.ts";

export type Coding = "gzip" | "deflate" | "br" | "zstd";

/** The codings of Content-Encoding values in the order they were applied; `fault` where one is unknown or there are more than two. */
export function contentCodings(values: readonly string[]): { ok: true; codings: Coding[] } | { ok: false; fault: string } {
  const names = values
    .join(",")
    .split(",")
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== "" && name !== "identity");
  const unknown = names.find((name) => !Object.hasOwn(codingOf, name));
  if (unknown !== undefined) return { ok: false, fault: `content coding ${JSON.stringify(unknown.slice(0, 40))}` };
  if (names.length > CODINGS) return { ok: false, fault: `${names.length} content codings` };
  return { ok: true, codings: names.map((name) => codingOf[name]!) };
}

/** Decodes a body that is all there, in one go. Undefined where it grows beyond `largeBytes`: decodeStream() is for that. Throws BodyCut. */
export function decodeWhole(
  wire: Buffer,
  codings: readonly Coding[],
  bytesMax: number,
  largeBytes: number,
): Buffer | undefined {
  let bytes = wire;
  for (const coding of codings.toReversed()) {
    if (bytes.length === 0) break; // an empty body is often labelled, and is empty all the same
    try {
      bytes = decodeOnce(bytes, coding, Math.max(1, Math.min(bytesMax, largeBytes)));
    } catch (error) {
      if (isTooLarge(error) && largeBytes < bytesMax) return undefined;
      throw cutOf(error, coding, bytesMax);
    }
  }
  if (bytes.length > bytesMax) throw tooLarge(bytesMax);
  return bytes;
}

/** Decodes as the bytes come; neither it nor any stage between gives more than `bytesMax`. Throws BodyCut, or what the wire throws. */
export function decodeStream(wire: AsyncIterable<Buffer>, codings: readonly Coding[], bytesMax: number): AsyncIterable<Buffer> {
  if (codings.length === 0) return bounded(wire, bytesMax);
  return codings
    .toReversed()
    .reduce<AsyncIterable<Buffer>>((source, coding) => bounded(decoded(source, coding, bytesMax), bytesMax), wire);
}

const CODINGS = 2; // one that the server applies by mistake over another is seen; three are an attack
const CHUNK_BYTES = 64 * 1024; // a stream's output at once
const WHOLE_CHUNK_BYTES = 128 * 1024;

const codingOf: Readonly<Record<string, Coding>> = {
  gzip: "gzip",
  "x-gzip": "gzip",
  deflate: "deflate",
  br: "br",
  zstd: "zstd",
};

// RFC 9659: a window of 8 MB at most for content codings. A larger one is memory that the decoded limit does not see.
const zstdParams = { params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } };

function decodeOnce(bytes: Buffer, coding: Coding, maxOutputLength: number): Buffer {
  // Into one buffer where the page is of the usual density: zlib's default of 16 KiB at a time costs a third more.
  const chunkSize = Math.min(WHOLE_CHUNK_BYTES, Math.max(16 * 1024, 8 * bytes.length));
  const options = { maxOutputLength, chunkSize };
  if (coding === "br") return zlib.brotliDecompressSync(bytes, options);
  if (coding === "zstd") return unzstd(bytes, options);
  if (coding === "deflate") return isZlib(bytes) ? zlib.inflateSync(bytes, options) : zlib.inflateRawSync(bytes, options);
  try {
    return zlib.gunzipSync(bytes, options);
  } catch (error) {
    if (!isTrailingGarbage(error, bytes)) throw error;
    return gunzipMembers(bytes, maxOutputLength);
  }
}

function unzstd(bytes: Buffer, options: zlib.ZstdOptions): Buffer {
  const { buffer, engine } = zlib.zstdDecompressSync(bytes, {
    ...options,
    info: true,
    ...zstdParams,
  } as zlib.ZstdOptions) as unknown as { buffer: Buffer; engine: zlib.ZstdDecompress };
  refuseSecondFrame(bytes.subarray(engine.bytesWritten));
  return buffer;
}

async function* bounded(source: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let total = 0;
  for await (const chunk of source) {
    total += chunk.length;
    if (total > bytesMax) throw tooLarge(bytesMax);
    yield chunk;
  }
}

async function* decoded(source: AsyncIterable<Buffer>, coding: Coding, bytesMax: number): AsyncGenerator<Buffer> {
  const head = await withHead(source);
  if (head.bytes.length === 0) return;
  try {
    if (coding === "gzip") yield* gunzipStream(head.all, bytesMax);
    else if (coding === "zstd") yield* unzstdStream(head.all);
    else yield* through(head.all, decoder(coding, head.bytes));
  } catch (error) {
    throw cutOf(error, coding, bytesMax);
  }
}

function decoder(coding: "br" | "deflate", head: Buffer): Transform {
  if (coding === "br") return zlib.createBrotliDecompress({ chunkSize: CHUNK_BYTES });
  return isZlib(head) ? zlib.createInflate({ chunkSize: CHUNK_BYTES }) : zlib.createInflateRaw({ chunkSize: CHUNK_BYTES });
}

/** Keeps its input, within the wire's limit, for the one case in which zlib loses what it had decoded. */
async function* gunzipStream(source: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  const kept: Buffer[] = [];
  let given = 0;
  try {
    for await (const chunk of through(keeping(source, kept), zlib.createGunzip({ chunkSize: CHUNK_BYTES }))) {
      given += chunk.length;
      yield chunk;
    }
  } catch (error) {
    const data = Buffer.concat(kept);
    if (!isTrailingGarbage(error, data)) throw error;
    yield gunzipMembers(data, bytesMax + 1).subarray(given);
  }
}

/** node:zlib forgets what follows a frame in the same chunk, and takes what follows it in the next one for a frame. */
async function* unzstdStream(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const kept: Buffer[] = [];
  const transform = zlib.createZstdDecompress({ chunkSize: CHUNK_BYTES, ...zstdParams });
  try {
    yield* through(keeping(source, kept), transform);
  } catch (error) {
    const trailing = (error as { code?: unknown }).code === "ZSTD_error_prefix_unknown" && startsZstd(Buffer.concat(kept));
    if (!trailing) throw error;
    return;
  }
  refuseSecondFrame(Buffer.concat(kept).subarray(transform.bytesWritten));
}

async function* keeping(source: AsyncIterable<Buffer>, kept: Buffer[]): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    kept.push(chunk);
    yield chunk;
  }
}

/** The transform's output. Both it and the source are ended when the reader stops or either fails. */
async function* through(source: AsyncIterable<Buffer>, transform: Transform): AsyncGenerator<Buffer> {
  pipeline(source, transform, () => {}); // a failure of either comes out of the loop below
  yield* transform;
}

/** The first bytes, two at least where there are two, and everything from the start. */
async function withHead(source: AsyncIterable<Buffer>): Promise<{ bytes: Buffer; all: AsyncGenerator<Buffer> }> {
  const iterator = source[Symbol.asyncIterator]();
  let bytes: Buffer = Buffer.alloc(0);
  while (bytes.length < 2) {
    const next = await iterator.next();
    if (next.done === true) break;
    bytes = bytes.length === 0 ? next.value : Buffer.concat([bytes, next.value]);
  }
  async function* all(): AsyncGenerator<Buffer> {
    if (bytes.length > 0) yield bytes;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  return { bytes, all: all() };
}

/** RFC 1950 2.2. Many servers send deflate without it. */
function isZlib(bytes: Buffer): boolean {
  return (bytes[0]! & 0x0f) === 8 && bytes.length > 1 && bytes.readUInt16BE(0) % 31 === 0;
}

/** RFC 8878 3.1.1. Rather a fault than a page that ends where its first frame does: servers send one frame. */
function refuseSecondFrame(rest: Buffer): void {
  if (startsZstd(rest)) throw new Error("more than one frame");
}

function startsZstd(bytes: Buffer): boolean {
  return bytes.length >= 4 && bytes.readUInt32LE(0) === 0xfd2fb528;
}

/** zlib's words for a second member that does not begin like one; a first that does not is told apart by its bytes. */
function isTrailingGarbage(error: unknown, data: Buffer): boolean {
  return startsMember(data) && error instanceof Error && error.message === "incorrect header check";
}

function isTooLarge(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ERR_BUFFER_TOO_LARGE";
}

function cutOf(error: unknown, coding: Coding, bytesMax: number): BodyCut {
  if (error instanceof BodyCut) return error;
  if (isTooLarge(error)) return tooLarge(bytesMax);
  return new BodyCut("encoding", `${coding}: ${error instanceof Error ? error.message : String(error)}`);
}

function tooLarge(bytesMax: number): BodyCut {
  return new BodyCut("decoded-bytes", `more than ${bytesMax} bytes after decoding`);
}
