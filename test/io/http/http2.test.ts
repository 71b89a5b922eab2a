// A server that offers HTTP/2 is spoken to in it, by the same contract as any other.
import assert from "node:assert/strict";
import { createSecureServer } from "node:http2";
import { type TestContext, test } from "node:test";
import type { TLSSocket } from "node:tls";
import * as zlib from "node:zlib";
import { captureRecords } from "../../../core/warc/capture.ts";
import { answer, body, bodyLimits, connect, httpAnswer, listen, realClock, requestLimits, send } from "./fixtures.ts";
import {
  block,
  certificate,
  data,
  type FrameServerOptions,
  frame,
  frameServer,
  goaway,
  head,
  http2Server,
  number32,
  ping,
  reset,
  settings,
  trustingHttp,
} from "./http2-fixtures.ts";

const PAGE = "<p>hello</p>";
const text = (read: Awaited<ReturnType<typeof body>>) => (read.ok ? Buffer.from(read.bytes).toString() : read.reason);

/** Answers `PAGE` to whatever is asked. */
const page = (context: TestContext) => http2Server(context, (stream) => stream.end(PAGE));

test("a request carries its target and the given headers in their order; the answer's come as they were, repeats too", async (context) => {
  const seen: string[][] = [];
  const server = await http2Server(context, (stream, _headers, raw) => {
    seen.push(raw);
    stream.respond({ ":status": 203, "x-b": "1", "set-cookie": ["a", "b=\xe9"], a: "", "x-c": "2" }, { endStream: false });
    stream.end(PAGE);
  });
  const connected = await connect(trustingHttp(context), `${server.origin}/p%20a?q=1#f`);
  const before = realClock.now();
  const headers = { "User-Agent": "Gleaner/1", accept: "text/html", Cookie: "no=1", Host: "evil", "If-None-Match": '"x"' };
  const result = await connected.send({ headers, sendBy: before + 500 });
  assert.ok(result.ok, JSON.stringify(result));
  assert.deepEqual(result.requestHeaders, [
    [":method", "GET"],
    [":scheme", "https"],
    [":authority", new URL(server.origin).host],
    [":path", "/p%20a?q=1"],
    ["user-agent", "Gleaner/1"],
    ["accept", "text/html"],
    ["if-none-match", '"x"'],
    ["accept-encoding", "gzip, deflate, br, zstd"],
  ]);
  assert.deepEqual(seen, [result.requestHeaders.flat()]);
  assert.deepEqual([result.status, result.statusText, result.httpVersion], [203, "", "2"]);
  assert.deepEqual(
    result.headers.filter(([name]) => name !== "date"),
    [
      ["x-b", "1"],
      ["set-cookie", "a"],
      ["set-cookie", "b=\xe9"],
      ["a", ""],
      ["x-c", "2"],
    ],
  );
  assert.ok(before <= result.sentAt && result.sentAt <= result.answeredAt && result.answeredAt <= realClock.now());
  const end = await result.body(bodyLimits);
  assert.ok(end.ok && end.wireBytes === PAGE.length && end.endedAt >= result.answeredAt);
});

test("an exchange by HTTP/2 is kept as one by HTTP/1.1, with its host", async (context) => {
  const server = await page(context);
  const result = await answer(trustingHttp(context), `${server.origin}/a`);
  const read = await result.body(bodyLimits);
  assert.ok(read.ok);
  const ids = { id: "a".repeat(22), requestId: "b".repeat(22) };
  const { status, statusText, httpVersion, headers, requestHeaders, sentAt: at } = result;
  const kept = { ...ids, url: `${server.origin}/a`, at, address: "127.0.0.1", method: "GET", body: read.bytes } as const;
  const records = captureRecords({ ...kept, status, statusText, httpVersion, headers, requestHeaders });
  const [request, response] = records.map(({ bytes }) => Buffer.concat(bytes).toString("latin1"));
  const host = new URL(server.origin).host;
  assert.match(request!, new RegExp(`\r\n\r\nGET /a HTTP/1.1\r\nHost: ${host}\r\nuser-agent: test\r\naccept-encoding: `));
  assert.match(response!, /\r\n\r\nHTTP\/1\.1 200 ?\r\ndate: /);
});

test("connections are kept and serve one request at a time; nothing leaves before a request, and none after its time", async (context) => {
  const server = await frameServer(context, (socket, stream) =>
    socket.write(Buffer.concat([head(stream, 200), data(stream, PAGE, true)])),
  );
  const http = trustingHttp(context);
  const unused = await connect(http, server.origin);
  await new Promise((resolve) => setTimeout(resolve, 20));
  unused.release();
  const late = await connect(http, server.origin);
  assert.deepEqual(await late.send({ headers: {}, sendBy: realClock.now() - 1 }), { ok: false, reason: "unsent" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(server.received(), []);
  for (let turn = 0; turn < 5; turn++) assert.equal(text(await body(http, `${server.origin}/${turn}`)), PAGE);
  (await answer(http, server.origin)).discard();
  const both = await Promise.all([body(http, server.origin), body(http, server.origin)]);
  assert.deepEqual(both.map(text), [PAGE, PAGE]);
  assert.deepEqual([server.connections(), server.requests()], [2, 8]);
});

test("time that passes inside node:http2 counts: the last look at the clock is just before the bytes leave", async (context) => {
  const server = await frameServer(context, () => assert.fail("a request"));
  let asked = 0;
  let lateFrom = Number.POSITIVE_INFINITY;
  const clock = { ...realClock, now: () => (++asked > lateFrom ? realClock.now() + 10_000 : realClock.now()) };
  const connected = await connect(trustingHttp(context, { clock }), server.origin);
  lateFrom = asked + 2; // send() looks first, then the timer is set
  assert.deepEqual(await connected.send({ headers: {}, sendBy: realClock.now() + 1000 }), { ok: false, reason: "unsent" });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(server.received(), []);
});

test("a header that cannot be sent is our fault: nothing leaves", async (context) => {
  const server = await frameServer(context, () => assert.fail("a request"));
  const http = trustingHttp(context);
  for (const headers of [{ "user-agent": "a\r\nb: c" }, { "us er": "a" }, { ":path": "/b" }, { te: "gzip" }, { a: "\0" }]) {
    const connected = await connect(http, server.origin);
    const result = await connected.send({ headers, sendBy: realClock.now() + 1000 });
    assert.ok(!result.ok && result.reason === "protocol" && result.sentAt === undefined, JSON.stringify([headers, result]));
  }
  assert.deepEqual(server.received(), []);
});

test("bodies small and large are decoded and counted on both sides, and held to both limits", async (context) => {
  const large = Buffer.from(Array.from({ length: 900_000 }, (_, index) => (index * index * 31) >> 7));
  const server = await http2Server(context, (stream, headers) => {
    const content = headers[":path"] === "/large" ? large : Buffer.from(PAGE.repeat(100));
    const packed = headers["x-coding"] === "gzip";
    stream.respond({ ":status": 200, ...(packed ? { "content-encoding": "gzip" } : {}) });
    stream.end(packed ? zlib.gzipSync(content) : content);
  });
  const http = trustingHttp(context);
  const get = async (path: string, coding: string, limits = {}) => {
    const connected = await connect(http, server.origin + path);
    const result = await connected.send({ headers: { "x-coding": coding }, sendBy: realClock.now() + 1000 });
    assert.ok(result.ok, JSON.stringify(result));
    await new Promise((resolve) => setTimeout(resolve, 20)); // more than is held unread has come
    return result.body({ ...bodyLimits, ...limits });
  };
  for (const [path, content] of [
    ["/small", Buffer.from(PAGE.repeat(100))],
    ["/large", large],
  ] as const) {
    for (const coding of ["gzip", "none"]) {
      const wireBytes = coding === "gzip" ? zlib.gzipSync(content).length : content.length;
      const whole = await get(path, coding, { wireBytes, decodedBytes: content.length });
      assert.ok(whole.ok && content.equals(whole.bytes) && whole.wireBytes === wireBytes, `${path} ${coding}`);
      assert.equal(text(await get(path, coding, { wireBytes: wireBytes - 1 })), "wire-bytes");
      assert.equal(text(await get(path, coding, { decodedBytes: content.length - 1 })), "decoded-bytes");
    }
  }
});

test("204 and 304 have no body, an answer may end with its headers, and trailers are let pass", async (context) => {
  const server = await http2Server(context, (stream, headers) => {
    const status = Number(String(headers[":path"]).slice(1));
    if (status !== 200) {
      stream.respond({ ":status": status, "content-encoding": "gzip" }, { endStream: true });
      return;
    }
    stream.respond({ ":status": 200 }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "1" })).end(PAGE);
  });
  const http = trustingHttp(context);
  for (const [path, content] of [
    ["/204", ""],
    ["/304", ""],
    ["/404", ""],
    ["/421", ""],
    ["/200", PAGE],
  ] as const) {
    const result = await answer(http, server.origin + path);
    assert.equal(`/${result.status}`, path);
    assert.ok(!result.headers.some(([name]) => name === "x-sum"));
    assert.equal(text(await result.body(bodyLimits)), content);
  }
  assert.equal(server.connections(), 1);
});

test("interim answers are passed over, and the clock counts from the one that follows", async (context) => {
  const server = await frameServer(context, (socket, stream) => {
    socket.write(Buffer.concat([head(stream, 103, ["link", "</a>"]), head(stream, 102)]));
    setTimeout(() => socket.write(Buffer.concat([head(stream, 200), data(stream, PAGE, true)])), 40);
  });
  const result = await answer(trustingHttp(context), server.origin);
  assert.equal(result.status, 200);
  assert.ok(result.answeredAt - result.sentAt >= 39);
  assert.equal(text(await result.body(bodyLimits)), PAGE);
});

test("a header block over several frames, with padding and priority, is one head", async (context) => {
  const fields = block([":status", "200"], ["a", "b"], ["c", "d".repeat(300)]);
  const cut = 20;
  const padded = Buffer.concat([Buffer.from([3]), number32(0), Buffer.from([15]), fields.subarray(0, cut), Buffer.alloc(3)]);
  const server = await frameServer(context, (socket, stream) => {
    const pieces = [
      frame(1, 0x8 | 0x20, stream, padded),
      frame(9, 0, stream, fields.subarray(cut, 200)),
      frame(9, 0x4, stream, fields.subarray(200)),
    ];
    const paddedBody = frame(0, 0x8, stream, Buffer.concat([Buffer.from([9]), Buffer.from(PAGE), Buffer.alloc(9)]));
    for (const byte of Buffer.concat([...pieces, paddedBody, data(stream, "", true)])) socket.write(Buffer.from([byte]));
  });
  const result = await answer(trustingHttp(context), server.origin);
  assert.deepEqual(result.headers, [
    ["a", "b"],
    ["c", "d".repeat(300)],
  ]);
  const read = await result.body(bodyLimits);
  assert.deepEqual([text(read), read.wireBytes], [PAGE, PAGE.length]);
});

test("ALPN decides: HTTP/2 where a server has both, HTTP/1.1 where it has that alone or names nothing", async (context) => {
  const both = createSecureServer({ ...certificate, allowHTTP1: true }, (request, response) =>
    response.end(request.httpVersion),
  );
  context.after(() => both.close());
  const http1 = (socket: TLSSocket) => socket.once("data", () => socket.end(httpAnswer("1.1")));
  const plain = (protocols: string[]) =>
    frameServer(context, () => {}, { greeting: Buffer.alloc(0), protocols, onConnection: http1 });
  const rows: [origin: string, version: string][] = [
    [`https://shop.example:${await listen(both)}`, "2"],
    [(await plain(["http/1.1"])).origin, "1.1"],
    [(await plain([])).origin, "1.1"],
  ];
  const http = trustingHttp(context);
  for (const [origin, version] of rows) {
    const result = await answer(http, origin);
    assert.equal(result.httpVersion, version);
    assert.equal(text(await result.body(bodyLimits)), version === "2" ? "2.0" : "1.1");
  }
});

test("hosts of one address and one certificate do not share a connection", async (context) => {
  const server = await page(context);
  const http = trustingHttp(context, { tls: { rejectUnauthorized: false } });
  const other = server.origin.replace("shop", "other");
  for (const origin of [server.origin, other, server.origin, other]) assert.equal(text(await body(http, origin)), PAGE);
  assert.equal(server.connections(), 2);
});

test("a connection whose server says goodbye is not used again, and its last answer is whole", async (context) => {
  for (const moment of ["before the end", "after the end", "while idle"]) {
    const server = await frameServer(context, (socket, stream) => {
      socket.write(head(stream, 200));
      if (moment === "before the end") socket.write(goaway(stream, 0));
      socket.write(data(stream, PAGE, true));
      if (moment === "after the end") socket.write(goaway(stream, 0));
      if (moment === "while idle") setTimeout(() => socket.write(goaway(stream, 0)), 20);
    });
    const http = trustingHttp(context);
    for (let turn = 0; turn < 2; turn++) {
      assert.equal(text(await body(http, server.origin)), PAGE, moment);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.equal(server.connections(), 2, moment);
  }
});

test("a connection that goes before the request leaves is unsent; later it is a failure, and nothing is sent twice", async (context) => {
  const rows: [moment: string, greeting: Buffer, outcome: string][] = [
    ["a goodbye before the request", Buffer.concat([settings(), goaway(0, 0)]), "unsent"],
    ["an angry one", Buffer.concat([settings(), goaway(0, 11)]), "unsent"],
    ["another protocol", Buffer.from("HTTP/1.1 408 Request Timeout\r\n\r\n"), "unsent"],
  ];
  const http = trustingHttp(context);
  for (const [moment, greeting, outcome] of rows) {
    const server = await frameServer(context, () => {}, { greeting });
    const connected = await connect(http, server.origin);
    await new Promise((resolve) => setTimeout(resolve, 30));
    const result = await connected.send({ headers: {}, sendBy: realClock.now() + 1000 });
    assert.deepEqual(result, { ok: false, reason: outcome }, moment);
    assert.equal(server.requests(), 0, moment);
  }
  const refusing = await frameServer(context, (socket, stream) => socket.write(stream === 1 ? goaway(0, 0) : reset(stream, 7)));
  const result = await send(http, refusing.origin);
  assert.ok(!result.ok && result.reason === "reset" && result.sentAt !== undefined, JSON.stringify(result));
  assert.ok(result.sentAt <= result.endedAt);
  assert.deepEqual([refusing.connections(), refusing.requests()], [1, 1]);
});

/** Speaks HTTP/1.1 where that was chosen. */
const alsoHttp1: Pick<FrameServerOptions, "protocols" | "onConnection"> = {
  protocols: ["h2", "http/1.1"],
  onConnection: (socket) => {
    if (socket.alpnProtocol === "http/1.1") socket.once("data", () => socket.write(httpAnswer(PAGE)));
  },
};

test("a server that lets no stream in gets no request, and is asked by HTTP/1.1 the next time", async (context) => {
  const server = await frameServer(context, () => {}, { greeting: settings([3, 0]), ...alsoHttp1 });
  const http = trustingHttp(context);
  const connected = await connect(http, server.origin);
  await new Promise((resolve) => setTimeout(resolve, 30));
  const result = await connected.send({ headers: {}, sendBy: realClock.now() + 60 });
  assert.ok(!result.ok && result.reason === "protocol" && result.sentAt === undefined, JSON.stringify(result));
  assert.equal(server.requests(), 0);
  assert.equal((await answer(http, server.origin)).httpVersion, "1.1");
});

test("a server that asks for HTTP/1.1, or breaks HTTP/2, is asked by it the next time", async (context) => {
  for (const answerOnce of [reset(1, 13), head(1, 200, ["connection", "keep-alive"]), frame(0, 0, 2, "no stream of ours")]) {
    const server = await frameServer(context, (socket) => socket.write(answerOnce), alsoHttp1);
    const http = trustingHttp(context);
    const first = await send(http, server.origin);
    assert.ok(!first.ok && first.reason === "protocol", JSON.stringify(first));
    const second = await answer(http, server.origin);
    assert.equal(second.httpVersion, "1.1");
    assert.equal(text(await second.body(bodyLimits)), PAGE);
  }
});

test("a kept connection whose server does not leave it alone is ended", async (context) => {
  const nuisances: Buffer[] = [
    Buffer.concat(Array.from({ length: 1001 }, ping)),
    data(1, "more"),
    head(2, 200),
    frame(5, 4, 1, number32(2)),
  ];
  for (const nuisance of nuisances) {
    let closed = false;
    const server = await frameServer(context, (socket, stream) => {
      socket.write(Buffer.concat([head(stream, 200), data(stream, PAGE, true)]));
      setTimeout(() => socket.write(nuisance), 20);
      socket.on("close", () => {
        closed = true;
      });
    });
    assert.equal(text(await body(trustingHttp(context), server.origin)), PAGE);
    for (let wait = 0; !closed && wait < 100; wait++) await new Promise((resolve) => setTimeout(resolve, 10));
    assert.ok(closed);
  }
});

test("after close() idle sessions are gone and one in use ends by itself", async (context) => {
  const server = await http2Server(context, (stream) => {
    stream.respond({ ":status": 200 });
    stream.write("half");
    setTimeout(() => stream.end("half"), 50);
  });
  const http = trustingHttp(context);
  assert.equal(text(await body(http, server.origin)), "halfhalf");
  const running = await answer(http, server.origin);
  (await connect(http, server.origin)).release();
  await http.close();
  assert.equal(text(await running.body(bodyLimits)), "halfhalf");
  const refused = await http.connect(server.origin, requestLimits);
  assert.ok(!refused.ok && refused.reason === "connect");
});
