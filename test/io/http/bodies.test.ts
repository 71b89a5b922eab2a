// A body comes whole, or ends at the first of its limits with the reason.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import * as zlib from "node:zlib";
import { answer, body, bodyLimits, drip, httpAnswer, loopbackHttp, rawServer, realClock } from "./fixtures.ts";

const PAGE = "<p>hello</p>";

const codings: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  deflate: (bytes) => zlib.deflateRawSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 } }),
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
  "gzip, zstd": (bytes) => zlib.zstdCompressSync(zlib.gzipSync(bytes)),
  identity: (bytes) => bytes,
};

test("bodies small and large are decoded and counted on both sides, for every coding and framing", async (context) => {
  const random = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * index * 31) >> 7));
  for (const [coding, encode] of Object.entries(codings)) {
    for (const content of [Buffer.from(PAGE.repeat(100)), random]) {
      const wire = encode(content);
      const head = `HTTP/1.1 200 OK\r\nContent-Encoding: ${coding}\r\n`;
      const chunked = Buffer.concat([
        Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`),
        ...Array.from({ length: Math.ceil(wire.length / 5000) }, (_, index) =>
          wire.subarray(index * 5000, index * 5000 + 5000),
        ).flatMap((piece) => [Buffer.from(`${piece.length.toString(16)};ext=1\r\n`), piece, Buffer.from("\r\n")]),
        Buffer.from("0\r\nTrailer: 1\r\n\r\n"),
      ]);
      const untilClose = Buffer.concat([Buffer.from(`${head}\r\n`), wire]);
      for (const bytes of [httpAnswer(wire, `Content-Encoding: ${coding}\r\n`), chunked, untilClose]) {
        const server = await rawServer(context, (socket) => (bytes === untilClose ? socket.end(bytes) : socket.write(bytes)));
        const read = await body(loopbackHttp(context), server.origin);
        assert.ok(read.ok, `${coding} ${JSON.stringify(read)}`);
        assert.ok(Buffer.from(read.bytes).equals(content), coding);
        assert.equal(read.wireBytes, wire.length);
      }
    }
  }
});

test("a body exactly at a limit is kept, one byte more is over (H5), small and large", async (context) => {
  for (const size of [1000, 200_000]) {
    const wire = zlib.gzipSync(Buffer.alloc(size, 7));
    const plain = await rawServer(context, httpAnswer(Buffer.alloc(size, 7)));
    const chunked = await rawServer(
      context,
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${"7".repeat(size)}\r\n0\r\n\r\n`,
    );
    const packed = await rawServer(context, httpAnswer(wire, "Content-Encoding: gzip\r\n"));
    const rows: [origin: string, wireBytes: number, decodedBytes: number, reason: string | undefined][] = [
      [plain.origin, size, size, undefined],
      [plain.origin, size - 1, size, "wire-bytes"],
      [plain.origin, size, size - 1, "decoded-bytes"],
      [chunked.origin, size, size, undefined],
      [chunked.origin, size - 1, size, "wire-bytes"],
      [packed.origin, wire.length, size, undefined],
      [packed.origin, wire.length - 1, size, "wire-bytes"],
      [packed.origin, wire.length, size - 1, "decoded-bytes"],
    ];
    const http = loopbackHttp(context);
    for (const [origin, wireBytes, decodedBytes, reason] of rows) {
      const read = await body(http, origin, { wireBytes, decodedBytes });
      assert.equal(read.ok ? undefined : read.reason, reason, `${size} ${wireBytes} ${decodedBytes}`);
    }
  }
});

test("a body without end is cut at its limit, and a bomb at the decoded one", async (context) => {
  let closed = 0;
  const pour = (socket: Socket, chunk: Buffer) => {
    socket.on("close", () => {
      closed += 1;
    });
    const more = () => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on("drain", more);
    more();
  };
  const endless = await rawServer(context, (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n\r\n");
    pour(socket, Buffer.alloc(60_000, 1));
  });
  const bomb = await rawServer(context, (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n");
    pour(socket, zlib.gzipSync(Buffer.alloc(4 * 1024 * 1024)));
  });
  const framing = await rawServer(context, (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    pour(socket, Buffer.from(`1;${"x".repeat(50_000)}\r\n.\r\n`));
  });
  const http = loopbackHttp(context);
  const rows = [
    [endless.origin, "wire-bytes"],
    [bomb.origin, "decoded-bytes"],
    [framing.origin, "wire-bytes"],
  ] as const;
  for (const [origin, reason] of rows) {
    const read = await body(http, origin, { wireBytes: 500_000, decodedBytes: 1_000_000 });
    assert.ok(!read.ok && read.reason === reason, `${origin} ${JSON.stringify(read)}`);
  }
  for (let wait = 0; closed < 3 && wait < 100; wait++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(closed, 3);
});

test("damaged, unknown and too many codings are encoding faults; bytes after gzip are not", async (context) => {
  const packed = zlib.gzipSync(PAGE);
  const rows: [content: Buffer, coding: string, outcome: string][] = [
    [packed.subarray(0, packed.length - 3), "gzip", "encoding"],
    [Buffer.from(PAGE), "gzip", "encoding"],
    [packed, "compress", "encoding"],
    [packed, "gzip, gzip, gzip", "encoding"],
    [Buffer.concat([packed, Buffer.from("\n<!-- served by -->")]), "gzip", PAGE],
    [Buffer.alloc(0), "gzip", ""],
  ];
  const http = loopbackHttp(context);
  for (const [content, coding, outcome] of rows) {
    const server = await rawServer(context, httpAnswer(content, `Content-Encoding: ${coding}\r\n`));
    const read = await body(http, server.origin);
    assert.equal(read.ok ? Buffer.from(read.bytes).toString() : read.reason, outcome);
  }
});

test("204 and 304 have no body, whatever their headers and bytes say", async (context) => {
  for (const head of [
    "304 Not Modified\r\nContent-Length: 5\r\n\r\nhello",
    "304 Not Modified\r\nContent-Encoding: gzip\r\n\r\n",
    "204 No\r\n\r\n",
  ]) {
    const server = await rawServer(context, `HTTP/1.1 ${head}`);
    const http = loopbackHttp(context);
    for (let turn = 0; turn < 2; turn++) {
      const read = await body(http, server.origin);
      assert.ok(read.ok && read.bytes.length === 0, JSON.stringify(read));
    }
  }
});

test("a body that ends early, breaks its framing or comes too slowly is told apart", async (context) => {
  const rows: [name: string, answer: string | ((socket: Socket) => void), reason: string][] = [
    ["shorter than its length", (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf"), "body-reset"],
    [
      "the same, to be closed",
      (socket) => socket.end("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 50\r\n\r\nhalf"),
      "body-reset",
    ],
    [
      "chunks without the last",
      (socket) => socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"),
      "body-reset",
    ],
    ["broken chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhalf\r\n", "body-reset"],
    ["trickling", (socket) => drip(socket, "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", "."), "body-timeout"],
    ["stalled", "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nhalf", "body-timeout"],
    ["trickling gzip", (socket) => drip(socket, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", "."), "body-timeout"],
  ];
  const http = loopbackHttp(context);
  await Promise.all(
    rows.map(async ([name, reply, reason]) => {
      const server = await rawServer(context, reply);
      const startedAt = realClock.now();
      const result = await answer(http, server.origin, { totalMs: 400 });
      const read = await result.body(bodyLimits);
      assert.ok(!read.ok && read.reason === reason, `${name}: ${JSON.stringify(read)}`);
      if (reason === "body-timeout") assert.ok(read.endedAt >= startedAt + 400);
    }),
  );
});

test("an answer that nobody reads is cut by the total time, and one discarded at once or after a short rest", async (context) => {
  const large = await rawServer(context, httpAnswer(Buffer.alloc(3_000_000)));
  const http = loopbackHttp(context, { fetchers: 1 });
  await answer(http, large.origin, { totalMs: 100 }); // its slot comes back by itself
  (await answer(http, large.origin)).discard();
  const result = await answer(http, large.origin);
  result.discard();
  assert.equal((await result.body(bodyLimits)).ok, false);
  const slow = await rawServer(context, (socket) => {
    socket.write("HTTP/1.1 404 No\r\nContent-Length: 8\r\n\r\nhalf");
    setTimeout(() => socket.write("half"), 20);
  });
  (await answer(http, slow.origin)).discard();
  assert.ok((await body(http, slow.origin)).ok);
  assert.equal(slow.connections(), 1);
});

test("a body that ends with its connection may be given up at any point", async (context) => {
  // undici 7.30 threw out of the socket's close event here.
  const server = await rawServer(context, (socket) => drip(socket, "HTTP/1.1 200 OK\r\n\r\n", "x".repeat(100)));
  const http = loopbackHttp(context);
  const uses: ((result: Awaited<ReturnType<typeof answer>>) => unknown)[] = [
    (result) => result.body({ wireBytes: 50, decodedBytes: 50 }),
    (result) => result.body(bodyLimits), // until the total time
    (result) => result.discard(),
    () => {},
  ];
  await Promise.all(uses.map(async (use) => use(await answer(http, server.origin, { totalMs: 200 }))));
  await new Promise((resolve) => setTimeout(resolve, 300));
});

test("a reset while the server is made to wait ends the body, with or without a length", async (context) => {
  for (const headers of ["", "Content-Length: 900000\r\n"]) {
    let sending: Socket | undefined;
    const server = await rawServer(context, (socket) => {
      sending = socket;
      socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${headers}\r\n`), Buffer.alloc(280_000)]));
    });
    const result = await answer(loopbackHttp(context), server.origin);
    await new Promise((resolve) => setTimeout(resolve, 50)); // more has come than is queued unread
    sending?.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const read = await result.body(bodyLimits);
    assert.ok(!read.ok && read.reason === "body-reset", JSON.stringify(read));
  }
});
