// What is no answer is told apart, and nothing is asked twice.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import { answer, bodyLimits, drip, httpAnswer, loopbackHttp, rawServer, send } from "./fixtures.ts";

const PAGE = "<p>hello</p>";

test("interim answers are passed over; switching protocols is refused", async (context) => {
  const interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
  const whole = await rawServer(context, `${interim}${httpAnswer(PAGE)}`);
  const late = await rawServer(context, (socket) => {
    for (const [index, byte] of [...`${interim}${httpAnswer(PAGE)}`].entries())
      setTimeout(() => socket.write(byte), index / 20);
  });
  const http = loopbackHttp(context);
  for (const { origin } of [whole, late, whole, late]) {
    const result = await answer(http, origin);
    assert.equal(result.status, 200);
    const read = await result.body(bodyLimits);
    assert.ok(read.ok && Buffer.from(read.bytes).toString() === PAGE);
  }
  assert.deepEqual([whole.connections(), late.connections()], [1, 1]);
  for (const headers of ["", "Connection: upgrade\r\nUpgrade: websocket\r\n"]) {
    const switching = await rawServer(context, `HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n`);
    const result = await send(http, switching.origin);
    assert.ok(!result.ok && result.reason === "protocol", JSON.stringify(result));
  }
  const flood = await rawServer(context, "HTTP/1.1 102 Processing\r\n\r\n".repeat(2000));
  const result = await send(http, flood.origin);
  assert.ok(!result.ok && result.reason === "header-bytes", JSON.stringify(result));
});

test("what is not HTTP, or ends early, has a failure with a reason and the time of sending", async (context) => {
  const rows: [name: string, answer: string | ((socket: Socket) => void), reason: string][] = [
    ["garbage", "\x16\x03\x01 SSH-2.0-x\r\n\r\n", "protocol"],
    ["no status line", "<html>hello</html>\r\n\r\n", "protocol"],
    ["a colon in the status (H1)", "HTTP/1.1 200: OK\r\n\r\n", "protocol"],
    ["a length in words (H3)", "HTTP/1.1 200 OK\r\nContent-Length: thousand\r\n\r\n", "protocol"],
    ["a length with a zero byte (H3)", "HTTP/1.1 200 OK\r\nContent-Length: 12\0\r\n\r\n", "protocol"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "protocol"],
    ["an end before the headers' end", (socket) => socket.end("HTTP/1.1 200 OK\r\nA: b\r\n"), "reset"],
    ["an end without an answer", (socket) => socket.end(), "reset"],
    ["a reset", (socket) => socket.resetAndDestroy(), "reset"],
    ["one header without end", `HTTP/1.1 200 OK\r\nA: ${"a".repeat(100_000)}`, "header-bytes"],
    ["headers without end", `HTTP/1.1 200 OK\r\n${"A: b\r\n".repeat(50_000)}`, "header-bytes"],
    ["a reason phrase without end", (socket) => drip(socket, "HTTP/1.1 200 ", "x".repeat(30_000)), "header-bytes"],
    ["silence", () => {}, "timeout"],
    ["headers that trickle", (socket) => drip(socket, "HTTP/1.1 200 OK\r\n", "A: b\r\n"), "timeout"],
  ];
  const http = loopbackHttp(context);
  await Promise.all(
    rows.map(async ([name, reply, reason]) => {
      const server = await rawServer(context, reply);
      const result = await send(http, server.origin, { headersMs: reason === "timeout" ? 300 : 10_000 });
      assert.ok(!result.ok && result.reason === reason, `${name}: ${JSON.stringify(result)}`);
      assert.ok(result.sentAt !== undefined && result.sentAt <= result.endedAt && result.detail !== "", name);
      assert.equal(server.connections(), 1, name);
      assert.equal(server.received().match(/GET/g)?.length, 1, name);
    }),
  );
});
