// No request reaches an address that the guard refuses, however the URL leads there.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  connect,
  httpAnswer,
  loopbackHttp,
  ranges,
  rawServer,
  realClock,
  requestLimits,
  send,
  tableResolver,
} from "./fixtures.ts";

test("a private address is refused by literal, by name and in every disguise: no connection is seen", async (context) => {
  const server = await rawServer(context, httpAnswer("secret"));
  const resolver = tableResolver({
    "rebound.example": [["127.0.0.1"]],
    "mapped.example": [["::ffff:127.0.0.1"]],
    "several.example": [["10.0.0.1", "::1", "169.254.169.254"]],
  });
  const http = loopbackHttp(context, { resolver, allow: [] });
  const hosts = [
    "127.0.0.1",
    "127.1",
    "0x7f000001",
    "2130706433",
    "localhost",
    "a.localhost",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "0.0.0.0",
  ];
  const names = ["rebound.example", "mapped.example", "several.example", "intranet", "metadata.google.internal", "x.onion"];
  for (const host of [...hosts, ...names]) {
    const result = await http.connect(`http://${host}:${server.port}/`, requestLimits);
    assert.ok(!result.ok && result.reason === "address", `${host}: ${JSON.stringify(result)}`);
    assert.equal(result.sentAt, undefined);
  }
  assert.equal(server.connections(), 0);
});

test("the refusal names each address and its range", async (context) => {
  const resolver = tableResolver({ "two.example": [["10.0.0.1", "::1"]] });
  const result = await loopbackHttp(context, { resolver, allow: [] }).connect("http://two.example/", requestLimits);
  assert.ok(!result.ok);
  assert.equal(result.detail, "two.example: 10.0.0.1 (private use, 10.0.0.0/8), ::1 (loopback, ::1/128)");
});

test("a name whose second look-up answers privately is refused then: what was checked is what is connected to", async (context) => {
  const server = await rawServer(context, httpAnswer("hello", "Connection: close\r\n"));
  const resolver = tableResolver({ "rebinding.example": [["127.0.0.1"], ["127.0.0.2"]] });
  const http = loopbackHttp(context, { resolver, allow: ranges("127.0.0.1") });
  const url = `http://rebinding.example:${server.port}/`;
  const first = await send(http, url);
  assert.ok(first.ok);
  assert.ok((await first.body({ wireBytes: 10, decodedBytes: 10 })).ok);
  const second = await http.connect(url, requestLimits);
  assert.ok(!second.ok && second.reason === "address" && second.detail.includes("127.0.0.2"), JSON.stringify(second));
  assert.equal(server.connections(), 1);
});

test("of several addresses only the allowed ones are tried, in order, until one answers", async (context) => {
  const server = await rawServer(context, httpAnswer("hello"));
  const resolver = tableResolver({ "many.example": [["10.0.0.1", "127.0.0.9", "127.0.0.1"]] });
  const http = loopbackHttp(context, { resolver });
  const connected = await connect(http, `http://many.example:${server.port}/`);
  assert.equal(connected.address, "127.0.0.1"); // nobody listens on 127.0.0.9
  connected.release();
});

test("where the socket led is judged again, before a byte leaves", async (context) => {
  const server = await rawServer(context, httpAnswer("secret"));
  const http = loopbackHttp(context, { allow: ranges("0.0.0.0/32") });
  const result = await http.connect(`http://0.0.0.0:${server.port}/`, requestLimits); // systems take it for 127.0.0.1
  assert.ok(!result.ok && result.reason === "address", JSON.stringify(result));
  assert.match(result.detail, /^0\.0\.0\.0 led to 127\.0\.0\.1: loopback/);
  assert.equal(server.received(), "");
});

test("--connect-to leads elsewhere, keeps the Host header, and is guarded all the same", async (context) => {
  const server = await rawServer(context, httpAnswer("hello"));
  const resolver = tableResolver({ "shop.example": [[]], "inside.example": [["10.0.0.1"]] });
  const elsewhere: Record<string, { host: string; port: number }> = {
    "shop.example:80": { host: "127.0.0.1", port: server.port },
    "named.example:80": { host: "localhost", port: server.port },
    "six.example:80": { host: "[::1]", port: 9 },
    "leak.example:80": { host: "inside.example", port: server.port },
  };
  const http = loopbackHttp(context, { resolver, connectTo: (host, port) => elsewhere[`${host}:${port}`] });
  for (const host of ["shop.example", "named.example"]) assert.ok((await send(http, `http://${host}/a`)).ok);
  assert.match(server.received(), /^GET \/a HTTP\/1\.1\r\nhost: shop\.example\r\n/);
  const leak = await http.connect("http://leak.example/", requestLimits);
  assert.ok(!leak.ok && leak.reason === "address" && leak.detail.includes("10.0.0.1"));
  const unlisted = await http.connect("http://shop.example:81/", requestLimits);
  assert.ok(!unlisted.ok && unlisted.reason === "dns");
  const badPort = await http.connect("http://six.example/", requestLimits);
  assert.ok(!badPort.ok && badPort.reason === "address");
});

test("what is no http(s) URL, or has a port of another protocol, is refused", async (context) => {
  const http = loopbackHttp(context);
  for (const url of ["", "ftp://127.0.0.1/", "file:///etc/passwd", "http://[::1%25lo]/", "//127.0.0.1/"]) {
    const result = await http.connect(url, requestLimits);
    assert.ok(!result.ok && result.reason === "protocol", url);
  }
  const mail = await http.connect("http://127.0.0.1:25/", requestLimits);
  assert.ok(!mail.ok && mail.reason === "address");
});

test("a resolver that rejects, or has nothing, is a failed look-up", async (context) => {
  const rejecting = { resolve: () => Promise.reject(new Error("broken")) };
  const result = await loopbackHttp(context, { resolver: rejecting }).connect("http://a.example/", requestLimits);
  assert.ok(!result.ok && result.reason === "dns" && result.detail === "broken");
  const empty = { resolve: async () => ({ ok: true as const, addresses: [] }) };
  const none = await loopbackHttp(context, { resolver: empty }).connect("http://a.example/", requestLimits);
  assert.ok(!none.ok && none.reason === "address");
});

test("a look-up that does not end is cut by the total time", async (context) => {
  const http = loopbackHttp(context, { resolver: { resolve: () => new Promise(() => {}) } });
  const startedAt = realClock.now();
  const result = await http.connect("http://a.example/", { ...requestLimits, totalMs: 50 });
  assert.ok(!result.ok && result.reason === "timeout");
  assert.ok(result.endedAt >= startedAt + 50);
});
