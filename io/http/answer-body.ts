// What does the body say, and is it within its limits before and after decoding?
import type { BodyLimits } from "../../ports/http.ts";
import type { BodyEnd } from "../../schemas/reasons.ts";
import { type Coding, contentCodings, decodeStream, decodeWhole } from "./decode.ts";
import { BodyCut, type Incoming } from "./incoming.ts";

export type RawHeaders = readonly (readonly [name: string, value: string])[];

/** The whole body after content decoding, in memory of its own (it may be transferred to a worker). Throws BodyCut. */
export async function readBody(body: Incoming, headers: RawHeaders, limits: BodyLimits): Promise<Uint8Array> {
  const coding = contentCodings(headerValues(headers, "content-encoding"));
  if (!coding.ok) throw new BodyCut("encoding", coding.fault);
  if (limits.keep !== undefined) return readOrKeep(body, coding.codings, limits);
  if ((contentLength(headers) ?? 0) > limits.wireBytes) throw tooLong(limits);
  const wholeBytes = Math.min(WHOLE_WIRE_BYTES, limits.wireBytes);
  let wire: AsyncIterable<Buffer> = metered(body, limits);
  if ((await body.gather(wholeBytes)) && body.wireBytes() <= wholeBytes) {
    // A small body is decoded here and now: a stream through libuv's threads costs several times as much.
    const whole = Buffer.concat(body.rest());
    const bytes = decodeWhole(whole, coding.codings, limits.decodedBytes, WHOLE_DECODED_BYTES);
    if (bytes !== undefined) return owned(bytes);
    wire = only(whole);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of decodeStream(wire, coding.codings, limits.decodedBytes)) chunks.push(chunk);
  return owned(Buffer.concat(chunks));
}

/** By stream alone: what a stream gave before it failed is known. Reads no more than it takes to know that there is more. */
async function readOrKeep(body: Incoming, codings: readonly Coding[], limits: BodyLimits): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const beginning = () => owned(Buffer.concat(chunks).subarray(0, limits.decodedBytes));
  try {
    for await (const chunk of decodeStream(metered(body, limits), codings, limits.decodedBytes + DECODED_AHEAD_BYTES)) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > limits.decodedBytes)
        throw new BodyCut("decoded-bytes", `more than ${limits.decodedBytes} bytes after decoding`);
    }
  } catch (error) {
    if (error instanceof BodyCut && SIZES.has(error.reason)) limits.keep?.(beginning());
    throw error;
  }
  return owned(Buffer.concat(chunks));
}

const SIZES: ReadonlySet<BodyEnd> = new Set(["wire-bytes", "decoded-bytes"]);
const DECODED_AHEAD_BYTES = 1024 * 1024; // more than any one chunk, so that the one that passes the limit is seen and not refused

/** The Content-Length header, where it is one number (RFC 9110 8.6). */
export function contentLength(headers: RawHeaders): number | undefined {
  const [value, ...more] = headerValues(headers, "content-length");
  return value !== undefined && more.length === 0 && /^\d{1,15}$/.test(value.trim()) ? Number(value) : undefined;
}

const WHOLE_WIRE_BYTES = 64 * 1024; // most pages; at most 0.3 ms of the event loop
const WHOLE_DECODED_BYTES = 2 * 1024 * 1024; // a small body that grows to more goes by stream: about 3 ms

function headerValues(headers: RawHeaders, wanted: string): string[] {
  return headers.filter(([name]) => name.length === wanted.length && name.toLowerCase() === wanted).map(([, value]) => value);
}

async function* metered(body: Incoming, limits: BodyLimits): AsyncGenerator<Buffer> {
  for await (const chunk of body.chunks()) {
    if (body.wireBytes() > limits.wireBytes) throw tooLong(limits);
    yield chunk;
  }
}

async function* only(whole: Buffer): AsyncGenerator<Buffer> {
  yield whole;
}

function tooLong(limits: BodyLimits): BodyCut {
  return new BodyCut("wire-bytes", `more than ${limits.wireBytes} bytes`);
}

/** Small buffers share Node's pool, where to transfer one would take the others along; zlib's are longer than what they hold. */
function owned(bytes: Buffer): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
