// A server over TLS is who its certificate says, or the request does not leave.
import assert from "node:assert/strict";
import { createServer } from "node:https";
import { createServer as createTcpServer } from "node:net";
import { type TestContext, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { selfSigned } from "./certificate.ts";
import {
  bodyLimits,
  httpAnswer,
  listen,
  loopbackHttp,
  rawServer,
  realClock,
  requestLimits,
  send,
  tableResolver,
} from "./fixtures.ts";

const DAY_MS = 86_400_000;

async function secureServer(context: TestContext, certificate: { key: string; cert: string }) {
  const names: unknown[] = [];
  let requests = 0;
  const server = createServer(certificate, (request, response) => {
    requests += 1;
    names.push((request.socket as TLSSocket & { servername?: unknown }).servername);
    response.end(`hello ${request.headers.host}`);
  });
  server.on("tlsClientError", () => {});
  context.after(() => server.close());
  return { port: await listen(server), names, requests: () => requests };
}

test("a trusted certificate of the right name is taken, and its connection reused", async (context) => {
  const certificate = selfSigned("shop.example", realClock.now());
  const server = await secureServer(context, certificate);
  const resolver = tableResolver({ "shop.example": [["127.0.0.1"]] });
  const http = loopbackHttp(context, { resolver, tls: { ca: certificate.cert } });
  for (let turn = 0; turn < 2; turn++) {
    const result = await send(http, `https://shop.example:${server.port}/`);
    assert.ok(result.ok, JSON.stringify(result));
    const read = await result.body(bodyLimits);
    assert.ok(read.ok && Buffer.from(read.bytes).toString() === `hello shop.example:${server.port}`);
  }
  assert.deepEqual(server.names, ["shop.example", "shop.example"]);
});

test("each fault of a certificate is told, and no request leaves", async (context) => {
  const now = realClock.now();
  const good = selfSigned("shop.example", now);
  const rows: [certificate: { key: string; cert: string }, host: string, trusted: boolean, detail: RegExp][] = [
    [good, "shop.example", false, /self-signed/],
    [good, "other.example", true, /for another name/],
    [good, "127.0.0.1", true, /for another name/],
    [selfSigned("shop.example", now - DAY_MS), "shop.example", true, /has expired/],
    [selfSigned("shop.example", now + DAY_MS), "shop.example", true, /not yet valid/],
  ];
  const resolver = tableResolver({ "shop.example": [["127.0.0.1"]], "other.example": [["127.0.0.1"]] });
  for (const [certificate, host, trusted, detail] of rows) {
    const server = await secureServer(context, certificate);
    const http = loopbackHttp(context, { resolver, ...(trusted ? { tls: { ca: certificate.cert } } : {}) });
    const result = await http.connect(`https://${host}:${server.port}/`, requestLimits);
    assert.ok(!result.ok && result.reason === "tls", JSON.stringify(result));
    assert.match(result.detail, detail);
    assert.equal(server.requests(), 0);
  }
});

test("a server that does not speak TLS, or is silent, fails the handshake", async (context) => {
  const plain = await rawServer(context, httpAnswer("x"));
  const http = loopbackHttp(context);
  const result = await http.connect(`https://127.0.0.1:${plain.port}/`, { ...requestLimits, totalMs: 300 });
  assert.ok(!result.ok && result.reason === "timeout", JSON.stringify(result));
  const server = createTcpServer((socket) => socket.on("error", () => {}).end("HTTP/1.1 400 Bad\r\n\r\n"));
  context.after(() => server.close());
  const spoken = await http.connect(`https://127.0.0.1:${await listen(server)}/`, requestLimits);
  assert.ok(!spoken.ok && spoken.reason === "tls", JSON.stringify(spoken));
  assert.match(spoken.detail, /does not speak TLS/);
});

test("the guard stands before TLS", async (context) => {
  const server = await secureServer(context, selfSigned("localhost", realClock.now()));
  const http = loopbackHttp(context, { allow: [] });
  const result = await http.connect(`https://127.0.0.1:${server.port}/`, requestLimits);
  assert.ok(!result.ok && result.reason === "address");
});
