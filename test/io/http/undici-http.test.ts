// What leaves with a request, over which connection, and when does it not leave?
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { test } from "node:test";
import {
  answer,
  body,
  bodyLimits,
  connect,
  httpAnswer,
  listen,
  loopbackHttp,
  rawServer,
  realClock,
  requestLimits,
  send,
} from "./fixtures.ts";

const PAGE = "<p>hello</p>";

test("a request carries the given headers in their order and ours; the answer carries its own as they came", async (context) => {
  const server = await rawServer(
    context,
    "HTTP/1.1 203 Non Auth\r\nX-b: 1\r\nset-COOKIE: a\r\nSet-Cookie: b=\xe9\r\nContent-Length: 0\r\n\r\n",
  );
  const http = loopbackHttp(context);
  const connected = await connect(http, `${server.origin}/p%20a?q=1#f`);
  const before = realClock.now();
  const headers = { "User-Agent": "Gleaner/1", accept: "text/html", Cookie: "no=1", Host: "evil", "If-None-Match": '"x"' };
  const result = await connected.send({ headers, sendBy: before + 500 });
  assert.ok(result.ok);
  const sent: [string, string][] = [
    ["host", `127.0.0.1:${server.port}`],
    ["connection", "keep-alive"],
    ["User-Agent", "Gleaner/1"],
    ["accept", "text/html"],
    ["If-None-Match", '"x"'],
    ["accept-encoding", "gzip, deflate, br, zstd"],
  ];
  assert.deepEqual(result.requestHeaders, sent);
  const lines = sent.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  assert.equal(server.received(), `GET /p%20a?q=1 HTTP/1.1\r\n${lines}\r\n`);
  assert.deepEqual([result.status, result.statusText, result.httpVersion], [203, "Non Auth", "1.1"]);
  assert.equal(JSON.stringify(result.headers.slice(0, 2)), '[["X-b","1"],["set-COOKIE","a"]]');
  assert.ok(before <= result.sentAt && result.sentAt <= result.answeredAt && result.answeredAt <= realClock.now());
  const end = await result.body(bodyLimits);
  assert.ok(end.ok && end.bytes.length === 0 && end.endedAt >= result.answeredAt);
});

test("a request whose time has passed does not leave, and its connection serves the next", async (context) => {
  const server = await rawServer(context, httpAnswer(PAGE));
  const http = loopbackHttp(context);
  const late = await connect(http, server.origin);
  assert.deepEqual(await late.send({ headers: {}, sendBy: realClock.now() - 1 }), { ok: false, reason: "unsent" });
  assert.deepEqual(await late.send({ headers: {}, sendBy: realClock.now() + 999 }), { ok: false, reason: "unsent" });
  assert.ok((await send(http, server.origin)).ok);
  assert.equal(server.connections(), 1);
  assert.equal(server.received().match(/GET/g)?.length, 1);
});

test("time that passes inside undici counts: the last look at the clock is just before the bytes leave", async (context) => {
  const server = await rawServer(context, httpAnswer(PAGE));
  let asked = 0;
  let lateFrom = Number.POSITIVE_INFINITY;
  const clock = { ...realClock, now: () => (++asked > lateFrom ? realClock.now() + 10_000 : realClock.now()) };
  const connected = await connect(loopbackHttp(context, { clock }), server.origin);
  lateFrom = asked + 1; // send() looks first and finds it in time
  assert.deepEqual(await connected.send({ headers: {}, sendBy: realClock.now() + 1000 }), { ok: false, reason: "unsent" });
  assert.equal(server.received(), "");
});

test("a header that cannot be sent is our fault: nothing leaves", async (context) => {
  const server = await rawServer(context, httpAnswer(PAGE));
  const connected = await connect(loopbackHttp(context), server.origin);
  const result = await connected.send({ headers: { "user-agent": "a\r\nb: c" }, sendBy: realClock.now() + 1000 });
  assert.ok(!result.ok && result.reason === "protocol" && result.sentAt === undefined);
  assert.equal(server.received(), "");
});

test("connections are kept by origin and reused, those given back unused too, and not across origins", async (context) => {
  const [one, other] = [await rawServer(context, httpAnswer(PAGE)), await rawServer(context, httpAnswer(PAGE))];
  const http = loopbackHttp(context);
  (await connect(http, one.origin)).release();
  for (let turn = 0; turn < 5; turn++) {
    assert.ok((await body(http, `${one.origin}/${turn}`)).ok);
    assert.ok((await body(http, `${other.origin}/${turn}`)).ok);
  }
  (await answer(http, one.origin)).discard();
  assert.ok((await body(http, one.origin)).ok);
  assert.deepEqual([one.connections(), other.connections()], [1, 1]);
});

test("a kept connection that the server has closed is noticed, and a new one made", async (context) => {
  const sockets: Socket[] = [];
  const server = await rawServer(context, (socket) => {
    sockets.push(socket);
    socket.write(httpAnswer(PAGE));
  });
  const http = loopbackHttp(context);
  for (const ending of ["end", "resetAndDestroy", "destroy"] as const) {
    assert.ok((await body(http, server.origin)).ok);
    const closed = once(sockets.at(-1)!, "close");
    sockets.at(-1)![ending]();
    await closed;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const unused = await connect(http, server.origin);
  unused.release();
  assert.ok((await body(http, server.origin)).ok);
  assert.equal(server.connections(), 4);
});

test("a connection that goes between connect and send, kept or new, is unsent", async (context) => {
  const sockets: Socket[] = [];
  const server = createServer((_request, response) => response.end(PAGE)).on("connection", (socket) => sockets.push(socket));
  context.after(() => server.close());
  const url = `http://127.0.0.1:${await listen(server)}/`;
  const http = loopbackHttp(context);
  for (const warm of [false, true]) {
    if (warm) assert.ok((await body(http, url)).ok);
    const connected = await connect(http, url);
    const closed = once(sockets.at(-1)!, "close");
    sockets.at(-1)!.destroy();
    await closed;
    // Not a tick given: the client may not have heard of it yet, and must not repeat the request elsewhere.
    const result = await connected.send({ headers: {}, sendBy: realClock.now() + 1000 });
    assert.ok(!result.ok && (result.reason === "unsent" || result.reason === "reset"), JSON.stringify(result));
  }
  const accepted = sockets.length;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(sockets.length, accepted);
});

test("a new connection that its server closes, or speaks on, before the request is noticed without a try", async (context) => {
  for (const ending of ["end", "speak"]) {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {});
      if (ending === "end") socket.end();
      else socket.write("HTTP/1.1 408 Request Timeout\r\n\r\n");
    });
    context.after(() => server.close());
    const connected = await connect(loopbackHttp(context), `http://127.0.0.1:${await listen(server)}/`);
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.deepEqual(await connected.send({ headers: {}, sendBy: realClock.now() + 1000 }), { ok: false, reason: "unsent" });
  }
});

test("a server that speaks unasked gets no request on that connection", async (context) => {
  const server = await rawServer(context, (socket) =>
    socket.write(Buffer.concat([httpAnswer(PAGE), Buffer.from("HTTP/1.1 200 OK\r\n\r\n")])),
  );
  const http = loopbackHttp(context);
  for (let turn = 0; turn < 3; turn++) {
    const read = await body(http, server.origin);
    assert.ok(read.ok && Buffer.from(read.bytes).toString() === PAGE);
  }
  assert.equal(server.connections(), 3);
});

test("an answer that asks to close, or is HTTP/1.0, ends its connection", async (context) => {
  for (const [head, version] of [
    ["HTTP/1.1 200 OK\r\nConnection: close\r\n", "1.1"],
    ["HTTP/1.0 200 OK\r\n", "1.0"],
  ] as const) {
    const server = await rawServer(context, `${head}Content-Length: 2\r\n\r\nok`);
    const http = loopbackHttp(context);
    for (let turn = 0; turn < 2; turn++) {
      const result = await answer(http, server.origin);
      assert.equal(result.httpVersion, version);
      assert.ok((await result.body(bodyLimits)).ok);
    }
    assert.equal(server.connections(), 2);
  }
});

test("nobody listening is refused; a connection neither used nor given back ends with its time", async (context) => {
  const gone = createServer();
  const port = await listen(gone);
  gone.close();
  const http = loopbackHttp(context, { fetchers: 1 });
  const refused = await http.connect(`http://127.0.0.1:${port}/`, requestLimits);
  assert.ok(!refused.ok && refused.reason === "connect" && refused.detail === `127.0.0.1:${port}: connection refused`);

  const server = await rawServer(context, httpAnswer(PAGE));
  const forgotten = await connect(http, server.origin, { totalMs: 150 });
  const waiting = await http.connect(server.origin, { ...requestLimits, totalMs: 50 });
  assert.ok(!waiting.ok && waiting.reason === "timeout", "all slots are in use");
  assert.ok((await body(http, server.origin)).ok, "the slot came free");
  assert.deepEqual(await forgotten.send({ headers: {}, sendBy: realClock.now() + 1000 }), { ok: false, reason: "unsent" });
});

test("two hundred requests at once to one server all finish, over no more sockets than there are slots", async (context) => {
  let open = 0;
  let most = 0;
  const server = createServer((request, response) => setImmediate(() => response.end(`you asked for ${request.url}`)));
  server.on("connection", (socket) => {
    most = Math.max(most, ++open);
    socket.on("close", () => --open);
  });
  context.after(() => server.close());
  const origin = `http://127.0.0.1:${await listen(server)}`;
  const http = loopbackHttp(context, { fetchers: 20 });
  const texts = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const read = await body(http, `${origin}/${index}`);
      return read.ok && Buffer.from(read.bytes).toString();
    }),
  );
  assert.deepEqual(
    texts,
    Array.from({ length: 200 }, (_, index) => `you asked for /${index}`),
  );
  assert.ok(most <= 20, `${most} sockets`);
});

test("after close() idle sockets are gone, one in use ends by itself, and nothing connects", async (context) => {
  const server = await rawServer(context, (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf");
    setTimeout(() => socket.write("half"), 50);
  });
  const http = loopbackHttp(context);
  assert.ok((await body(http, server.origin)).ok);
  const running = await answer(http, server.origin);
  (await connect(http, server.origin)).release();
  await http.close();
  assert.ok((await running.body(bodyLimits)).ok);
  const refused = await http.connect(server.origin, requestLimits);
  assert.ok(!refused.ok && refused.reason === "connect");
  const held = () => process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap" || kind === "Timeout");
  for (let wait = 0; held().length > 0 && wait < 100; wait++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(held(), []);
});
