// What does a server that breaks the rules of HTTP get? One request, one outcome with a reason, and no byte of one answer in the next.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { normalizeUrl } from "../../core/url/normalize.ts";
import type { Resolver } from "../../io/http/dns.ts";
import {
  bodyLimits,
  drip,
  httpAnswer,
  loopbackHttp,
  ranges,
  rawServer,
  realClock,
  requestLimits,
  send,
  tableResolver,
} from "../io/http/fixtures.ts";

type Reply = string | Buffer | ((socket: Socket) => void);

/** `body: …` of what was read, or the reason, or `body-…` why the body ended. */
async function outcomeOf(context: TestContext, reply: Reply, expected: string): Promise<{ outcome: string; requests: number }> {
  const server = await rawServer(context, reply);
  // Short only where that is what is tested: others may have to wait for a busy machine.
  const times = { headersMs: expected === "timeout" ? 300 : 15_000, totalMs: expected === "body-timeout" ? 2500 : 15_000 };
  const result = await send(loopbackHttp(context), server.origin, times);
  const requests = server.received().match(/GET/g)?.length ?? 0;
  if (!result.ok) return { outcome: result.reason, requests };
  const read = await result.body(bodyLimits);
  return { outcome: read.ok ? `${result.status}: ${Buffer.from(read.bytes).toString("latin1")}` : read.reason, requests };
}

const closing = (text: string) => (socket: Socket) => void socket.end(text, "latin1");
const ok = (headers: string, body = "") => `HTTP/1.1 200 OK\r\n${headers}\r\n${body}`;

const rows: [situation: string, reply: Reply, outcome: string][] = [
  ["HTTP/0.9: a body and nothing else", closing("<html>hello</html>"), "protocol"],
  ["HTTP/0.9: an empty line first", closing("\r\n<html>hello</html>"), "protocol"],
  ["a status with a colon (H1)", "HTTP/1.1 200: OK\r\n\r\n", "protocol"],
  ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "protocol"],
  ["a status without a reason", closing("HTTP/1.1 200\r\n\r\nhello"), "200: hello"],
  ["HTTP/1.1 under the name of HTTP/2", "HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200: hello"],
  ["frames of HTTP/2 that nobody asked for", Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]), "protocol"],
  ["another protocol's greeting", closing("220 mail.example ESMTP\r\n"), "protocol"],
  ["a length in words (H3)", closing(ok("Content-Length: thousand\r\n", "hello")), "protocol"],
  ["a length with a zero byte (H3)", closing(ok("Content-Length: 12\0\r\n", "hello")), "protocol"],
  ["a negative length", closing(ok("Content-Length: -5\r\n", "hello")), "protocol"],
  ["a length beyond all numbers", closing(ok(`Content-Length: ${"9".repeat(40)}\r\n`, "hello")), "protocol"],
  ["a length that is too long", closing(ok("Content-Length: 50\r\n", "hello")), "body-reset"],
  ["a length that is too short", closing(ok("Content-Length: 5\r\n", "hello and more")), "200: hello"],
  ["two lengths", closing(ok("Content-Length: 5\r\nContent-Length: 6\r\n", "hello!")), "protocol"],
  ["two lengths in one line", closing(ok("Content-Length: 5, 6\r\n", "hello!")), "protocol"],
  [
    "a length and chunks",
    closing(ok("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n")),
    "protocol",
  ],
  ["a transfer coding without chunks", closing(ok("Transfer-Encoding: gzip\r\n", "hello")), "200: hello"],
  [
    "a chunk longer than all numbers",
    closing(ok("Transfer-Encoding: chunked\r\n", "fffffffffffffffff\r\nhello")),
    "body-reset",
  ],
  [
    "trailers without end",
    (socket) => flood(socket, ok("Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n"), "x: y\r\n"),
    "wire-bytes",
  ],
  ["a zero byte in a header's name", closing(ok("A\0b: c\r\n", "hello")), "protocol"],
  ["a zero byte in a header's value", closing(ok("A: b\0c\r\n", "hello")), "protocol"],
  ["zero bytes in the body", closing(ok("Content-Length: 7\r\n", "a\0b\0\0\0c")), "200: a\0b\0\0\0c"],
  ["a header without a colon", closing(ok("nonsense\r\n", "hello")), "protocol"],
  ["a header folded over two lines", closing(ok("A: b\r\n c\r\n", "hello")), "protocol"],
  ["a cookie without a value (H13)", httpAnswer("hello", "Set-Cookie: foo=\r\n"), "200: hello"],
  ["cookies without sense", httpAnswer("hello", "Set-Cookie: =;;==\r\nSet-Cookie:\r\n"), "200: hello"],
  [
    "401 with neither a challenge nor an end to its body (H15)",
    (socket) => flood(socket, "HTTP/1.1 401 No\r\n\r\n", "no "),
    "wire-bytes",
  ],
  ["10,000 short headers", `HTTP/1.1 200 OK\r\n${"a:b\r\n".repeat(10_000)}\r\n`, "header-bytes"],
  ["headers without end", (socket) => flood(socket, "HTTP/1.1 200 OK\r\n", "a: b\r\n"), "header-bytes"],
  ["one header without end", (socket) => flood(socket, "HTTP/1.1 200 OK\r\na: ", "bbbb"), "header-bytes"],
  ["a status line without end", (socket) => flood(socket, "HTTP/1.1 200 ", "OK "), "header-bytes"],
  ["interim answers without end", (socket) => flood(socket, "", "HTTP/1.1 103 Early Hints\r\n\r\n"), "header-bytes"],
  ["empty lines without end", (socket) => flood(socket, "", "\r\n"), "header-bytes"],
  ["a reset before a byte", (socket) => socket.resetAndDestroy(), "reset"],
  ["a reset within the headers", (socket) => reset(socket, "HTTP/1.1 200 OK\r\nA: "), "reset"],
  ["a reset within the body", (socket) => reset(socket, ok("Content-Length: 50\r\n", "hello")), "body-reset"],
  ["a reset within a body that has no length", (socket) => reset(socket, ok("", "hello")), "body-reset"],
  ["the end within the headers", closing("HTTP/1.1 200 OK\r\nA: b\r\n"), "reset"],
  ["silence", () => {}, "timeout"],
  ["a head that trickles", (socket) => drip(socket, "HTTP/1.1 200 OK\r\n", "A: b\r\n"), "timeout"],
  ["a body that trickles", (socket) => drip(socket, ok("Content-Length: 5000\r\n"), "."), "body-timeout"],
  ["a body without an end that trickles", (socket) => drip(socket, ok(""), "."), "body-timeout"],
];

test("each way of breaking the rules has its outcome, by one request and no more", async (context) => {
  const found = await Promise.all(
    rows.map(async ([situation, reply, expected]) => {
      const { outcome, requests } = await outcomeOf(context, reply, expected);
      return [situation, outcome, requests];
    }),
  );
  assert.deepEqual(
    found,
    rows.map(([situation, , expected]) => [situation, expected, 1]),
  );
});

test("bytes behind an answer's end are not the next answer's beginning", async (context) => {
  const stolen = ok("Content-Length: 6\r\n", "stolen");
  const server = await rawServer(context, (socket, request) => {
    socket.write(ok("Content-Length: 5\r\n", request.includes("/second") ? "right" : `first${stolen}`));
  });
  const http = loopbackHttp(context);
  const said: string[] = [];
  for (const path of ["/first", "/second"]) {
    const result = await send(http, `${server.origin}${path}`);
    assert.ok(result.ok, JSON.stringify(result));
    const read = await result.body(bodyLimits);
    said.push(read.ok ? Buffer.from(read.bytes).toString() : read.reason);
  }
  assert.deepEqual(said, ["first", "right"]);
  assert.equal(server.connections(), 2);
});

test("a redirect inwards is only a header: nobody follows it, and its target is refused when its turn comes", async (context) => {
  const inwards = ["http://169.254.169.254/latest/", "http://[::1]/", "http://10.0.0.8/", "//127.0.0.1/", "http://0x7f.1/"];
  const http = loopbackHttp(context, { allow: ranges("127.0.0.1") });
  const guarded = loopbackHttp(context, { allow: [] });
  for (const location of inwards) {
    const server = await rawServer(context, `HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\n\r\n`);
    const result = await send(http, server.origin);
    assert.ok(result.ok && result.status === 302);
    assert.equal(server.connections(), 1);
    const target = normalizeUrl(location, server.origin);
    assert.ok(target.ok);
    const refused = await guarded.connect(target.url, requestLimits);
    assert.ok(!refused.ok && refused.reason === "address", `${location}: ${JSON.stringify(refused)}`);
  }
});

test("a name that is public when it is judged and private when it is connected to is never reached", async (context) => {
  const server = await rawServer(context, httpAnswer("secret", "Connection: close\r\n"));
  const inside = "127.0.0.1";
  const answers: [situation: string, answers: string[][]][] = [
    ["public, then private", [["192.0.2.1"], [inside]]],
    ["public and private at once", [["203.0.113.7", inside]]],
    ["private in disguise", [["::ffff:7f00:1"], ["64:ff9b::7f00:1"], ["0.0.0.0"]]],
  ];
  for (const [situation, table] of answers) {
    const http = loopbackHttp(context, { allow: [], resolver: tableResolver({ "rebind.example": table }) });
    for (let turn = 0; turn < 3; turn++) {
      const result = await http.connect(`http://rebind.example:${server.port}/`, { ...requestLimits, totalMs: 100 });
      assert.ok(
        !result.ok && ["address", "timeout", "connect"].includes(result.reason),
        `${situation}: ${JSON.stringify(result)}`,
      );
    }
  }
  assert.equal(server.connections(), 0);
});

test("one look-up decides: between the judgement and the connection nobody asks again", async (context) => {
  const server = await rawServer(context, httpAnswer("hello"));
  let asked = 0;
  const resolver: Resolver = { resolve: async () => ({ ok: true, addresses: [asked++ === 0 ? "127.0.0.1" : "10.0.0.1"] }) };
  const http = loopbackHttp(context, { resolver, allow: ranges("127.0.0.1") });
  const connected = await http.connect(`http://once.example:${server.port}/`, requestLimits);
  assert.ok(connected.ok && connected.address === "127.0.0.1");
  const result = await connected.send({ headers: {}, sendBy: realClock.now() + 1000 });
  assert.ok(result.ok);
  assert.equal(asked, 1);
});

/** The head, then the piece for as long as the other side takes it. */
function flood(socket: Socket, head: string, piece: string): void {
  const many = Buffer.from(piece.repeat(2000));
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write(many));
  };
  socket.on("drain", more);
  more();
}

function reset(socket: Socket, head: string): void {
  socket.write(head, () => setTimeout(() => socket.resetAndDestroy(), 30));
}
