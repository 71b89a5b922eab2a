// A small answer that stands for gigabytes ends at the decoded limit, whatever its coding, and memory stays flat.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as zlib from "node:zlib";
import { limits } from "../../schemas/limits.ts";
import { body, httpAnswer, loopbackHttp, rawServer } from "../io/http/fixtures.ts";

const MIB = 1024 * 1024;
const zeros = Buffer.alloc(MIB);
const crawlLimits = { wireBytes: limits.wireBytes, decodedBytes: limits.decodedBytes };

/** `mib` MiB of zeros as the coder makes them, never in memory themselves. */
async function packed(coder: zlib.Gzip | zlib.BrotliCompress | zlib.ZstdCompress, mib: number): Promise<Buffer> {
  const out: Buffer[] = [];
  const ended = coder.on("data", (chunk: Buffer) => out.push(chunk)).toArray();
  for (let turn = 0; turn < mib; turn++) await new Promise((resolve) => coder.write(zeros, resolve));
  coder.end();
  await ended;
  return Buffer.concat(out);
}

/** Deflate starts anew after a full flush, so one piece repeats for ever: ten gigabytes cost what 16 MiB do. */
async function endlessDeflate(repeats: number): Promise<Buffer> {
  const coder = zlib.createDeflateRaw({ level: 9 });
  const out: Buffer[] = [];
  coder.on("data", (chunk: Buffer) => out.push(chunk));
  for (let turn = 0; turn < 16; turn++) await new Promise((resolve) => coder.write(zeros, resolve));
  await new Promise<void>((resolve) => coder.flush(zlib.constants.Z_FULL_FLUSH, resolve));
  coder.destroy();
  return Buffer.concat(Array<Buffer>(repeats).fill(Buffer.concat(out)));
}

const quality = (level: number) => ({ params: { [zlib.constants.BROTLI_PARAM_QUALITY]: level } });

interface Bomb {
  coding: string;
  wire: Buffer;
}

async function bombs(): Promise<Bomb[]> {
  const raw = await endlessDeflate(600); // some 10 MB that stand for 10 GB
  const gzipHead = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);
  const brotli = await packed(zlib.createBrotliCompress(quality(1)), 512);
  return [
    { coding: "deflate", wire: raw },
    { coding: "deflate", wire: Buffer.concat([Buffer.from([0x78, 0xda]), raw]) },
    { coding: "gzip", wire: Buffer.concat([gzipHead, raw]) },
    { coding: "x-gzip", wire: Buffer.concat([gzipHead, raw]) },
    { coding: "br", wire: brotli },
    { coding: "zstd", wire: await packed(zlib.createZstdCompress(), 512) },
    { coding: "gzip, gzip", wire: zlib.gzipSync(Buffer.concat([gzipHead, raw])) },
    { coding: "gzip, br", wire: zlib.brotliCompressSync(Buffer.concat([gzipHead, raw]), quality(3)) },
    { coding: "br, gzip", wire: zlib.gzipSync(brotli) },
  ];
}

/** Of this process, while `run` runs. */
async function peakOf(run: () => Promise<void>): Promise<number> {
  let peak = 0;
  const look = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const timer = setInterval(look, 2);
  await run();
  look();
  clearInterval(timer);
  return peak;
}

test("a bomb of each coding, and of one in the other, ends at the decoded limit; the next costs no more memory", async (context) => {
  const all = await bombs();
  const stands = all.map(({ wire }) => wire.length);
  assert.ok(
    stands.every((bytes) => bytes <= limits.wireBytes),
    `the wire's own limit would cut them: ${stands.join()}`,
  );
  const servers = await Promise.all(
    all.map(({ coding, wire }) => rawServer(context, httpAnswer(wire, `Content-Encoding: ${coding}\r\n`))),
  );
  const http = loopbackHttp(context);
  const round = async () => {
    for (const [at, { origin }] of servers.entries()) {
      const read = await body(http, origin, crawlLimits);
      assert.ok(!read.ok && read.reason === "decoded-bytes", `${all[at]?.coding}: ${JSON.stringify({ ...read, bytes: 0 })}`);
      assert.ok(read.wireBytes <= limits.wireBytes);
    }
  };
  await round();
  const before = process.memoryUsage.rss();
  const peak = await peakOf(async () => {
    for (let turn = 0; turn < 4; turn++) await round();
  });
  assert.ok(peak - before < 8 * limits.decodedBytes, `${Math.round((peak - before) / MIB)} MiB more for thirty-six bombs`);
});

test("more codings than two are refused before a byte is decoded, in one header or in several", async (context) => {
  const thrice = zlib.gzipSync(zlib.gzipSync(zlib.gzipSync("page")));
  const headers = [
    "Content-Encoding: gzip, gzip, gzip\r\n",
    "Content-Encoding: gzip\r\n".repeat(3),
    `Content-Encoding: ${"gzip,".repeat(2000)}\r\n`,
  ];
  const http = loopbackHttp(context);
  for (const lines of headers) {
    const server = await rawServer(context, httpAnswer(thrice, lines));
    const read = await body(http, server.origin, crawlLimits);
    assert.ok(!read.ok && read.reason === "encoding", lines);
    assert.match(read.detail, /content codings/);
  }
});

test("a coding that gives nothing for all that it takes ends at the wire's limit", async (context) => {
  const empty = zlib.gzipSync("");
  const server = await rawServer(context, (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n");
    const members = Buffer.concat(Array<Buffer>(1000).fill(empty));
    const more = () => {
      while (!socket.destroyed && socket.write(members));
    };
    socket.on("drain", more);
    more();
  });
  const read = await body(loopbackHttp(context), server.origin, { wireBytes: 2 * MIB, decodedBytes: 20 * MIB });
  assert.ok(!read.ok && read.reason === "wire-bytes", JSON.stringify(read));
});
