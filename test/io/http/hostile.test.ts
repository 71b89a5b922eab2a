// Whatever bytes a server sends, in whatever pieces, and however it ends: a value comes back, and nothing is thrown anywhere.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { bodyLimits, loopbackHttp, rawServer, realClock } from "./fixtures.ts";

const heads = [
  "HTTP/1.1 200 OK",
  "HTTP/1.0 200 OK",
  "HTTP/1.1 304 Not Modified",
  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK",
  "HTTP/1.1 101 S",
];
const headers = [
  "Content-Length: 20",
  "Content-Length: 400000",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: gzip, chunked",
  "Connection: close",
  "Connection: upgrade\r\nUpgrade: h2c",
  "Content-Encoding: gzip",
  "Keep-Alive: timeout=1",
];
const packed = gzipSync("x".repeat(10_000)).toString("latin1");
const bodies = ["hello", "5\r\nhello\r\n0\r\n\r\n", packed, "x".repeat(300_000), "ffffffffff\r\n", "HTTP/1.1 200 OK\r\n\r\n"];

const reply = fc.record({
  text: fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom(...heads), fc.subarray(headers), fc.constantFrom(...bodies))
        .map(([head, lines, body]) => `${[head, ...lines].join("\r\n")}\r\n\r\n${body}`),
    },
    { weight: 1, arbitrary: fc.string({ maxLength: 200 }) },
  ),
  damage: fc.option(fc.tuple(fc.nat(150), fc.string({ minLength: 1, maxLength: 3, unit: "binary-ascii" }))),
  cut: fc.option(fc.nat(400)),
  pieces: fc.integer({ min: 1, max: 5 }),
  ending: fc.constantFrom<"end" | "reset" | "stay">("end", "reset", "stay"),
  use: fc.constantFrom<"body" | "late" | "discard" | "leave">("body", "late", "discard", "leave"),
});

async function play(socket: Socket, text: string, pieces: number, ending: string): Promise<void> {
  const bytes = Buffer.from(text, "latin1");
  const size = Math.ceil(bytes.length / pieces) || 1;
  for (let at = 0; at < bytes.length; at += size) {
    socket.write(bytes.subarray(at, at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (ending === "end") socket.end();
  if (ending === "reset") socket.resetAndDestroy();
}

test("a value for every answer", async (context) => {
  const thrown: unknown[] = [];
  const note = (error: unknown) => thrown.push(error);
  process.on("uncaughtException", note).on("unhandledRejection", note);
  context.after(() => process.off("uncaughtException", note).off("unhandledRejection", note));
  await fc.assert(
    fc.asyncProperty(fc.array(reply, { minLength: 8, maxLength: 8 }), async (replies) => {
      const http = loopbackHttp(context);
      await Promise.all(
        replies.map(async ({ text, damage, cut, pieces, ending, use }) => {
          const damaged =
            damage === null ? text : text.slice(0, damage[0]) + damage[1] + text.slice(damage[0] + damage[1].length);
          const played = damaged.slice(0, cut ?? damaged.length);
          const server = await rawServer(context, (socket) => void play(socket, played, pieces, ending));
          for (let turn = 0; turn < 2; turn++) {
            const connected = await http.connect(server.origin, { totalMs: 120, headersMs: 60, headerBytes: 4096 });
            if (!connected.ok) continue;
            const result = await connected.send({ headers: {}, sendBy: realClock.now() + 100 });
            if (!result.ok) continue;
            if (use === "late") await new Promise((resolve) => setTimeout(resolve, 20));
            if (use === "discard") result.discard();
            if (use !== "body" && use !== "late") continue;
            const read = await result.body(bodyLimits);
            assert.ok(read.ok ? read.bytes instanceof Uint8Array : read.detail !== "");
          }
        }),
      );
      await http.close();
      assert.deepEqual(thrown, []);
    }),
    { numRuns: 15, endOnFailure: true },
  );
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.deepEqual(thrown, []);
});
