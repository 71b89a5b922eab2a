// Of a body that is longer than its limit the beginning is kept where it is asked for, whatever the coding; of one that fails, nothing.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { answer, httpAnswer, loopbackHttp, rawServer } from "./fixtures.ts";

const LINE = "Disallow: /a-path-of-some-length\n";
const LONG = Buffer.from(LINE.repeat(30_000)); // about 1 MB
const KEPT = 500 * 1024;

async function kept(http: ReturnType<typeof loopbackHttp>, origin: string, wireBytes = 4 * KEPT) {
  let beginning: Uint8Array | undefined;
  const result = await (await answer(http, origin, { totalMs: 1000 })).body({
    wireBytes,
    decodedBytes: KEPT,
    keep(bytes) {
      beginning = bytes;
    },
  });
  return { result, beginning };
}

/** Writes for as long as the other side reads. */
function pour(socket: Socket, head: string, chunk: Buffer): void {
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", more);
  more();
}

test("the beginning of a body beyond its limit, or without end, is given, exactly as long as the limit, and the connection ends", async (context) => {
  let closed = 0;
  const open = "HTTP/1.1 200 OK\r\n";
  const replies: Record<string, Buffer | ((socket: Socket) => void)> = {
    "with a length": httpAnswer(LONG),
    "with a length beyond the wire limit": (socket) => pour(socket, `${open}Content-Length: 99000000\r\n\r\n`, LONG),
    "without end": (socket) => pour(socket, `${open}\r\n`, LONG),
    "small on the wire": httpAnswer(gzipSync(LONG), "Content-Encoding: gzip\r\n"),
    "small on the wire, coded twice": httpAnswer(gzipSync(gzipSync(LONG)), "Content-Encoding: gzip, gzip\r\n"),
    "a bomb without end": (socket) => pour(socket, `${open}Content-Encoding: gzip\r\n\r\n`, gzipSync(LONG)),
  };
  const http = loopbackHttp(context, { fetchers: 1 }); // the slot comes back before the request's time ends
  for (const [name, reply] of Object.entries(replies)) {
    const server = await rawServer(context, (socket) => {
      socket.on("close", () => {
        closed++;
      });
      if (typeof reply === "function") reply(socket);
      else socket.write(reply);
    });
    const { result, beginning } = await kept(http, server.origin);
    assert.equal(result.ok ? "ok" : result.reason, "decoded-bytes", name);
    assert.ok(beginning !== undefined && Buffer.from(beginning).equals(LONG.subarray(0, KEPT)), name);
  }
  for (let wait = 0; closed < 4 && wait < 100; wait++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.ok(closed >= 4, `${closed} connections ended`); // the two small ones had come whole
});

test("a body cut by the bytes on the wire gives what came before", async (context) => {
  const http = loopbackHttp(context);
  const endless = await rawServer(context, (socket) => pour(socket, "HTTP/1.1 200 OK\r\n\r\n", LONG.subarray(0, 10_000)));
  const { result, beginning } = await kept(http, endless.origin, 60_000);
  assert.equal(result.ok ? "ok" : result.reason, "wire-bytes");
  assert.ok(beginning !== undefined && beginning.length <= 60_000);
  assert.ok(Buffer.from(beginning).equals(LONG.subarray(0, beginning.length)));
});

test("a body within its limits is whole, and of one that ends by time or by a fault nothing is kept", async (context) => {
  const half = "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nhalf";
  const replies: [reply: Buffer | string | ((socket: Socket) => void), outcome: string][] = [
    [httpAnswer(LONG.subarray(0, KEPT)), "whole"],
    [httpAnswer(gzipSync(LONG.subarray(0, KEPT)), "Content-Encoding: gzip\r\n"), "whole"],
    [half, "body-timeout"],
    [(socket) => socket.end(half), "body-reset"],
    [httpAnswer("no gzip", "Content-Encoding: gzip\r\n"), "encoding"],
  ];
  const http = loopbackHttp(context);
  await Promise.all(
    replies.map(async ([reply, outcome]) => {
      const { result, beginning } = await kept(http, (await rawServer(context, reply)).origin);
      const whole = result.ok && Buffer.from(result.bytes).equals(LONG.subarray(0, KEPT));
      assert.equal(whole ? "whole" : result.ok ? "part" : result.reason, outcome);
      assert.equal(beginning, undefined, outcome);
    }),
  );
});
