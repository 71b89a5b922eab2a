// Whatever frames a server sends, in whatever pieces, and however it ends: a value comes back, and nothing is thrown anywhere.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { TLSSocket } from "node:tls";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { bodyLimits, realClock } from "../io/http/fixtures.ts";
import {
  block,
  data,
  frame,
  frameServer,
  goaway,
  head,
  headersFrame,
  padding,
  ping,
  reset,
  settings,
  trustingHttp,
  windowUpdate,
} from "../io/http/http2-fixtures.ts";

const likely: ((stream: number) => Buffer)[] = [
  (stream) => head(stream, 200),
  (stream) => head(stream, 200, ["content-encoding", "gzip"], ["content-length", "20"]),
  (stream) => headersFrame(stream, block([":status", "204"]), { end: true }),
  (stream) => head(stream, 103, ["link", "</a>"]),
  (stream) => data(stream, "hello"),
  (stream) => data(stream, "hello", true),
  (stream) => data(stream, gzipSync("x".repeat(10_000)), true),
  (stream) => data(stream, Buffer.alloc(16_000)),
  (stream) => headersFrame(stream, block(["x-sum", "1"]), { end: true }),
];
const unlikely: ((stream: number) => Buffer)[] = [
  (stream) => headersFrame(stream, block([":status", "200"]), { more: true }),
  (stream) => frame(9, 4, stream, block(["a", "b"])),
  (stream) => padding(stream, 9),
  (stream) => reset(stream, 0),
  (stream) => reset(stream, 8),
  (stream) => goaway(stream, 0),
  () => goaway(0, 1),
  () => settings([3, 0], [4, 0]),
  () => ping(),
  () => frame(6, 1, 0, Buffer.alloc(8)),
  () => windowUpdate(0, 0x7fffffff),
  (stream) => frame(5, 4, stream, Buffer.alloc(9)),
  (stream) => data(stream + 2, "not ours", true),
  () => Buffer.from("HTTP/1.1 200 OK\r\n\r\n"),
];

const reply = fc.record({
  frames: fc.array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...likely) }, fc.constantFrom(...unlikely)), {
    maxLength: 6,
  }),
  begun: fc.boolean(), // with a head, as most
  damage: fc.option(fc.tuple(fc.nat(150), fc.nat(255))),
  cut: fc.option(fc.nat(400)),
  pieces: fc.integer({ min: 1, max: 5 }),
  ending: fc.constantFrom("end", "reset", "destroy", "stay", "stay"),
  use: fc.constantFrom("body", "late", "discard", "leave"),
});

async function play(socket: TLSSocket, bytes: Buffer, pieces: number): Promise<void> {
  const size = Math.ceil(bytes.length / pieces) || 1;
  for (let at = 0; at < bytes.length && !socket.destroyed; at += size) {
    socket.write(bytes.subarray(at, at + size));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a value for every answer by HTTP/2", async (context) => {
  const thrown: unknown[] = [];
  const note = (error: unknown) => thrown.push(error);
  process.on("uncaughtException", note).on("unhandledRejection", note);
  context.after(() => process.off("uncaughtException", note).off("unhandledRejection", note));
  await fc.assert(
    fc.asyncProperty(fc.array(reply, { minLength: 8, maxLength: 8 }), async (replies) => {
      const http = trustingHttp(context);
      await Promise.all(
        replies.map(async ({ frames, begun, damage, cut, pieces, ending, use }) => {
          const server = await frameServer(context, async (socket, stream, resetConnection) => {
            const bytes = Buffer.concat([...(begun ? [head(stream, 200)] : []), ...frames.map((build) => build(stream))]);
            if (damage !== null && damage[0] < bytes.length) bytes[damage[0]] = damage[1];
            await play(socket, bytes.subarray(0, cut ?? bytes.length), pieces);
            if (ending === "end") socket.end();
            if (ending === "destroy") socket.destroy();
            if (ending === "reset") resetConnection();
          });
          for (let turn = 0; turn < 2; turn++) {
            const connected = await http.connect(server.origin, { totalMs: 200, headersMs: 100, headerBytes: 4096 });
            if (!connected.ok) continue;
            const result = await connected.send({ headers: {}, sendBy: realClock.now() + 150 });
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
    { numRuns: 10, endOnFailure: true },
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.deepEqual(thrown, []);
});
