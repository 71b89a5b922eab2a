import assert from "node:assert/strict";
import { test } from "node:test";
import * as zlib from "node:zlib";
import fc from "fast-check";
import { type Coding, contentCodings, decodeStream, decodeWhole } from "../../../io/http/decode.ts";
import { BodyCut } from "../../../io/http/incoming.ts";

const text = Buffer.from("a page of words, some of them twice, some of them twice. ".repeat(500));
const LARGE = 64 * 1024 * 1024;

const encoders: Record<string, [coding: Coding, encode: (bytes: Buffer) => Buffer]> = {
  gzip: ["gzip", (bytes) => zlib.gzipSync(bytes)],
  "gzip of two members": ["gzip", (b) => Buffer.concat([zlib.gzipSync(b.subarray(0, 999)), zlib.gzipSync(b.subarray(999))])],
  "deflate with its zlib header": ["deflate", (bytes) => zlib.deflateSync(bytes)],
  "deflate without it": ["deflate", (bytes) => zlib.deflateRawSync(bytes)],
  br: ["br", (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 3 } })],
  zstd: ["zstd", (bytes) => zlib.zstdCompressSync(bytes)],
};

async function* inPieces(wire: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < wire.length; at += size) yield wire.subarray(at, at + size);
}

/** assert.deepEqual takes seconds to print how two buffers differ. */
function same(actual: Decoded, expected: Buffer): void {
  assert.ok(typeof actual !== "string" && actual.equals(expected), `got ${actual.slice(0, 40)}`);
}

type Decoded = Buffer | string;

/** The decoded bytes, or the reason why not. */
async function streamed(wire: AsyncIterable<Buffer>, codings: Coding[], bytesMax: number): Promise<Decoded> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of decodeStream(wire, codings, bytesMax)) chunks.push(chunk);
  } catch (error) {
    assert.ok(error instanceof BodyCut, String(error));
    return error.reason;
  }
  return Buffer.concat(chunks);
}

function whole(wire: Buffer, codings: Coding[], bytesMax: number): Decoded {
  try {
    return decodeWhole(wire, codings, bytesMax, LARGE)!;
  } catch (error) {
    assert.ok(error instanceof BodyCut, String(error));
    return error.reason;
  }
}

/** Every way of feeding it, which must all agree. */
async function everyWay(wire: Buffer, codings: Coding[], bytesMax = LARGE): Promise<Decoded> {
  const first = whole(wire, codings, bytesMax);
  for (const size of [wire.length || 1, 1000, 7, 1]) {
    if (wire.length / size > 3000) continue;
    const other = await streamed(inPieces(wire, size), codings, bytesMax);
    assert.ok(
      typeof first === "string" ? other === first : first.equals(Buffer.from(other)),
      `in pieces of ${size}: ${other.slice(0, 20)}`,
    );
  }
  return first;
}

for (const [name, [coding, encode]] of Object.entries(encoders)) {
  test(`${name}: decoded, at its limit too, and not one byte beyond`, async () => {
    same(await everyWay(encode(text), [coding]), text);
    same(await everyWay(encode(text), [coding], text.length), text);
    assert.equal(await everyWay(encode(text), [coding], text.length - 1), "decoded-bytes");
  });

  test(`${name}: cut short or of junk is an encoding fault, empty is empty`, async () => {
    const wire = encode(text);
    assert.equal(await everyWay(wire.subarray(0, wire.length - 1), [coding]), "encoding");
    assert.equal(await everyWay(wire.subarray(0, 5), [coding]), "encoding");
    assert.equal(await everyWay(Buffer.from("<!doctype html><p>not packed at all"), [coding]), "encoding");
    same(await everyWay(Buffer.alloc(0), [coding]), Buffer.alloc(0));
  });

  test(`${name}: what follows the end is let pass`, async () => {
    same(await everyWay(Buffer.concat([encode(text), Buffer.from("<!-- cached -->\n")]), [coding]), text);
  });

  test(`${name}: a bomb ends at the limit, whatever it was to become`, async () => {
    const bomb = encode(Buffer.alloc(32 * 1024 * 1024));
    const max = 1024 * 1024;
    let given = 0;
    await assert.rejects(
      async () => {
        for await (const chunk of decodeStream(inPieces(bomb, 4096), [coding], max)) given += chunk.length;
      },
      { reason: "decoded-bytes" },
    );
    assert.ok(given <= max);
    assert.equal(whole(bomb, [coding], max), "decoded-bytes");
    assert.equal(decodeWhole(bomb, [coding], LARGE, max), undefined);
  });
}

test("two codings are undone in reverse, and the inner one is bounded too", async () => {
  const both = zlib.brotliCompressSync(zlib.gzipSync(text));
  same(await everyWay(both, ["gzip", "br"]), text);
  const emptyMembers = zlib.gzipSync(Buffer.concat(Array(100_000).fill(zlib.gzipSync(""))));
  assert.equal(await streamed(inPieces(emptyMembers, 4096), ["gzip", "gzip"], 500_000), "decoded-bytes");
  assert.equal(whole(emptyMembers, ["gzip", "gzip"], 500_000), "decoded-bytes");
});

test("a gzip member with a name, a comment and a wrong checksum before trailing bytes is judged by its checksum", async () => {
  const plain = zlib.gzipSync(text);
  const flagged = Buffer.concat([plain.subarray(0, 3), Buffer.from([4 | 8 | 16]), plain.subarray(4, 10)]);
  const named = Buffer.concat([
    flagged,
    Buffer.from("\x03\x00abcname\0comment\0", "latin1"),
    plain.subarray(10),
    Buffer.from("junk"),
  ]);
  same(await everyWay(named, ["gzip"]), text);
  const damaged = Buffer.concat([plain, Buffer.from("junk")]);
  damaged[plain.length - 7]! ^= 1;
  assert.equal(await everyWay(damaged, ["gzip"]), "encoding");
});

test("a zstd frame that wants a window beyond 8 MB is refused", async () => {
  const wide = zlib.zstdCompressSync(Buffer.alloc(20 * 1024 * 1024, "abc"), {
    params: { [zlib.constants.ZSTD_c_windowLog]: 25 },
  });
  assert.equal(await everyWay(wide, ["zstd"]), "encoding");
});

test("a second zstd frame in one chunk is a fault, not a shorter page", async () => {
  const frame = zlib.zstdCompressSync(text);
  const two = Buffer.concat([frame, frame]);
  assert.equal(whole(two, ["zstd"], LARGE), "encoding");
  assert.equal(await streamed(inPieces(two, two.length), ["zstd"], LARGE), "encoding");
});

test("Content-Encoding is read by its tokens, in any case, over several headers", () => {
  const rows: [values: string[], codings: Coding[] | string][] = [
    [[], []],
    [["identity"], []],
    [["GZip"], ["gzip"]],
    [["x-gzip"], ["gzip"]],
    [[" gzip , br"], ["gzip", "br"]],
    [
      ["gzip", "zstd"],
      ["gzip", "zstd"],
    ],
    [["deflate,"], ["deflate"]],
    [["gzip, gzip, gzip"], "3 content codings"],
    [["compress"], 'content coding "compress"'],
    [["constructor"], 'content coding "constructor"'],
  ];
  for (const [values, expected] of rows) {
    const read = contentCodings(values);
    assert.deepEqual(read.ok ? read.codings : read.fault, expected, JSON.stringify(values));
  }
});

test("whatever the bytes, whole and in pieces give the same, and only our own kind of error", async () => {
  const coding = fc.constantFrom<Coding>("gzip", "deflate", "br", "zstd");
  const damaged = fc.tuple(fc.constantFrom(...Object.keys(encoders)), fc.nat(), fc.nat(255)).map(([name, at, byte]) => {
    const [kind, encode] = encoders[name]!;
    const wire = encode(text);
    wire[at % wire.length] = byte;
    return { wire, kind };
  });
  const junk = fc.record({ wire: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)), kind: coding });
  await fc.assert(
    fc.asyncProperty(fc.oneof(damaged, junk), fc.integer({ min: 1, max: 500 }), async ({ wire, kind }, size) => {
      // Damage may look like trailing bytes to one and not yet to the other only in zlib's own readers: the reason is what must agree.
      const one = whole(wire, [kind], LARGE);
      const other = await streamed(inPieces(wire, size), [kind], LARGE);
      assert.equal(typeof one, typeof other);
    }),
    { numRuns: 150 },
  );
});
