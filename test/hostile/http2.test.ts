// What does a server that breaks the rules of HTTP/2 get? One request, one outcome with a reason, and the end of its connection.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { bodyLimits, connect, httpAnswer, realClock } from "../io/http/fixtures.ts";
import {
  block,
  data,
  flood,
  frame,
  frameServer,
  goaway,
  head,
  headersFrame,
  indexed,
  number32,
  padding,
  ping,
  reset,
  settings,
  trustingHttp,
  windowUpdate,
} from "../io/http/http2-fixtures.ts";

type Reply = Buffer | Parameters<typeof frameServer>[1];

interface Row {
  situation: string;
  reply: Reply;
  /** `200: …` of what was read, or the reason of the failure or of the body's end. */
  outcome: string;
  greeting?: Buffer;
}

/** Our first stream is 1. */
const ok = head(1, 200);
const closing = (bytes: Buffer) => (socket: TLSSocket) => void socket.end(bytes);
const flooding = (first: Buffer, bytes: Buffer) => (socket: TLSSocket) => {
  socket.write(first);
  flood(socket, bytes);
};
const rows: Row[] = [];
const group = (outcome: string, replies: [situation: string, reply: Reply, greeting?: Buffer][]) => {
  for (const [situation, reply, greeting] of replies) {
    rows.push({ situation, reply, outcome, ...(greeting === undefined ? {} : { greeting }) });
  }
};
const all = (...parts: Buffer[]) => Buffer.concat(parts);
const nothing = Buffer.alloc(0);

group("200: hello", [
  ["an answer", all(ok, data(1, "hello", true))],
  ["a server that never opens its window", all(ok, data(1, "hello", true)), settings([4, 0])],
  [
    "the largest tables, frames and lists",
    all(ok, data(1, "hello", true)),
    settings([1, 0xffffffff], [5, 0xffffff], [6, 0xffffffff]),
  ],
  [
    "unknown frames and settings",
    all(frame(0xbe, 0xff, 77, "?"), ok, frame(0xbe, 0, 1), data(1, "hello", true)),
    settings([0xbe, 1]),
  ],
  ["a few pings, windows and settings", all(ping(), settings(), ok, windowUpdate(0, 5), ping(), data(1, "hello", true))],
  [
    "an alternative service and origins",
    all(
      frame(10, 0, 0, all(Buffer.from([0, 1]), Buffer.from("ah3"))),
      frame(12, 0, 0, all(Buffer.from([0, 9]), Buffer.from("https://a"))),
      ok,
      data(1, "hello", true),
    ),
  ],
  ["a stream that is reset after its end", all(ok, data(1, "hello", true), reset(1, 0))],
  ["a push after its end", all(ok, data(1, "hello", true), frame(5, 4, 1, number32(2)))],
  ["the end of the connection after the answer's", closing(all(ok, data(1, "hello", true)))],
  ["a length that is right", all(head(1, 200, ["content-length", "5"]), data(1, "hello", true))],
  ["content between padding", all(ok, padding(1, 200), data(1, "hello"), data(1, "", true))],
  ["headers of control characters' neighbours", all(head(1, 200, ["a", "\x20\x7e\xff\t!"]), data(1, "hello", true))],
]);

group("protocol", [
  ["headers with names in capitals", all(head(1, 200, ["X-Upper", "a"]), data(1, "hello", true))],
  ["a header of HTTP/1.1", all(head(1, 200, ["transfer-encoding", "chunked"]), data(1, "hello", true))],
  ["no status", headersFrame(1, block(["a", "b"]))],
  ["two statuses", headersFrame(1, block([":status", "200"], [":status", "200"]))],
  ["a status in words", head(1, "fine" as never)],
  ["a status behind the headers", headersFrame(1, block(["a", "b"], [":status", "200"]))],
  ["a pseudo-header of requests", headersFrame(1, block([":status", "200"], [":path", "/"]))],
  ["a switch of protocols", head(1, 101)],
  ["an interim answer as the end", headersFrame(1, block([":status", "103"]), { end: true })],
  ["a body without headers", data(1, "hello", true)],
  ["a body of another stream", all(data(3, "hello", true))],
  ["headers of another stream", head(3, 200)],
  ["headers of a stream of the server's", head(2, 200)],
  ["a length in words", all(head(1, 200, ["content-length", "five"]), data(1, "hello", true))],
  ["two lengths", all(head(1, 200, ["content-length", "5"], ["content-length", "6"]), data(1, "hello", true))],
  [
    "a push",
    all(
      frame(5, 4, 1, all(number32(2), block([":method", "GET"], [":path", "/"], [":scheme", "https"], [":authority", "a"]))),
      ok,
    ),
  ],
  ["a header block that is no HPACK", headersFrame(1, Buffer.from([0x80]))],
  ["a reference to no entry", headersFrame(1, Buffer.from([0xff, 0xff, 0x7f]))],
  ["a header block within another", all(headersFrame(1, block([":status", "200"]), { more: true }), ping())],
  ["more of a header block that never began", frame(9, 4, 1, block(["a", "b"]))],
  ["a frame longer than ours may be", frame(0xbe, 0, 1, Buffer.alloc(20_000))],
  ["settings of odd length", frame(4, 0, 0, "abcde")],
  ["settings of a stream", frame(4, 0, 1, "")],
  ["settings beyond sense", settings([4, 0xffffffff])],
  ["settings that allow pushes to servers", settings([2, 7])],
  ["an acknowledged ping that nobody sent", frame(6, 1, 0, Buffer.alloc(8))],
  ["a ping of seven bytes", frame(6, 0, 0, Buffer.alloc(7))],
  ["a window of nothing", windowUpdate(0, 0)],
  ["a window beyond all numbers", all(windowUpdate(0, 0x7fffffff), windowUpdate(0, 0x7fffffff))],
  ["HTTP/1.1 all the same", httpAnswer("hello"), nothing],
  ["zeros", Buffer.alloc(1000), nothing],
  ["a server that acknowledges before it begins", frame(4, 1, 0), nothing],
  ["settings without end", flooding(nothing, settings())],
  [
    "settings of many without end",
    flooding(nothing, settings(...Array.from({ length: 30 }, (_, at): [number, number] => [at + 100, at]))),
  ],
  ["pings without end", flooding(nothing, ping())],
  ["windows without end", flooding(nothing, windowUpdate(0, 1))],
  ["resets of other streams without end", flooding(nothing, reset(1001, 8))],
  ["priorities without end", flooding(nothing, frame(2, 0, 1, Buffer.from([0, 0, 0, 0, 5])))],
  ["unknown frames without end", flooding(nothing, frame(0xbe, 0, 0, "x".repeat(1000)))],
  ["origins without end", flooding(nothing, frame(12, 0, 0, all(Buffer.from([0, 9]), Buffer.from("https://a"))))],
  ["the wish for HTTP/1.1", reset(1, 0xd)],
]);

const table = indexed("a", "b".repeat(3000)); // number 62 from then on
group("header-bytes", [
  ["one header that is too long", headersInFrames(block([":status", "200"], ["a", "b".repeat(20_000)]))],
  [
    "10,000 short headers",
    headersInFrames(block([":status", "200"], ...Array.from({ length: 10_000 }, (): [string, string] => ["a", "b"]))),
  ],
  [
    "a bomb: one entry of the table, again and again",
    headersFrame(1, all(block([":status", "200"]), table, Buffer.alloc(2000, 0x80 | 62))),
  ],
  ["a bomb of moderate size", headersFrame(1, all(block([":status", "200"]), table, Buffer.alloc(10, 0x80 | 62)))],
  [
    "bombs as interim answers",
    all(
      ...Array.from({ length: 5 }, () =>
        headersFrame(1, all(block([":status", "103"]), table, Buffer.from([0x80 | 62, 0x80 | 62]))),
      ),
    ),
  ],
  [
    "a header block without end",
    flooding(headersFrame(1, block([":status", "200"]), { more: true }), frame(9, 0, 1, block(["a", "b".repeat(1000)]))),
  ],
  [
    "a header block without end or content",
    flooding(headersFrame(1, block([":status", "200"]), { more: true }), frame(9, 0, 1, "")),
  ],
  ["interim answers without end", flooding(nothing, head(1, 103))],
]);

group("reset", [
  ["a refused stream", reset(1, 7)],
  ["a cancelled one", reset(1, 8)],
  ["a stream that is reset without an error", reset(1, 0)],
  ["a wish for calm", reset(1, 11)],
  ["a goodbye with an error", goaway(1, 2)],
  ["a goodbye that leaves the request out", goaway(0, 0)],
  ["the end of the connection", closing(nothing)],
  ["the end within the headers", closing(ok.subarray(0, 12))],
  ["a reset of the connection", (_socket, _stream, resetConnection) => resetConnection()],
]);

group("body-reset", [
  ["a stream that is reset within the body", all(ok, data(1, "hello"), reset(1, 2))],
  ["a stream that is reset within the body without an error", all(ok, data(1, "hello"), reset(1, 0))],
  ["a goodbye with an error within the body", all(ok, data(1, "hello"), goaway(1, 2))],
  ["the end of the connection within the body", closing(all(ok, data(1, "hello")))],
  ["the end within a frame", closing(all(ok, data(1, "hello", true).subarray(0, 12)))],
  ["a body longer than its length", all(head(1, 200, ["content-length", "3"]), data(1, "hello", true))],
  ["a body shorter than its length", all(head(1, 200, ["content-length", "50"]), data(1, "hello", true))],
  ["more padding than frame", all(ok, frame(0, 8, 1, Buffer.from([9, 1])))],
  ["a frame longer than ours may be, within the body", all(ok, frame(0, 0, 1, Buffer.alloc(20_000)))],
  ["a push within the body", all(ok, frame(5, 4, 1, all(number32(2), block([":method", "GET"]))))],
  ["a second head", all(ok, head(1, 200), data(1, "hello", true))],
  ["trailers with a status", all(ok, data(1, "hello"), headersFrame(1, block([":status", "200"]), { end: true }))],
  [
    "a body beyond the window that was given",
    (socket) => pour(socket, all(ok, ...Array.from({ length: 60 }, () => data(1, Buffer.alloc(16_000))))),
  ],
]);

group("wire-bytes", [
  ["a body without end", (socket, stream) => windowed(socket, stream)],
  ["empty frames without end", flooding(ok, data(1, ""))],
  ["padding without end", flooding(ok, padding(1, 250))],
  ["pings without end within the body", flooding(ok, ping())],
  ["windows without end within the body", flooding(all(ok, data(1, "hello")), windowUpdate(1, 1))],
  ["trailers that are too long", all(ok, data(1, "hello"), headersInFrames(block(["a", "b".repeat(20_000)]), true))],
  [
    "trailers without end",
    flooding(
      all(ok, headersFrame(1, block(["a", "b"]), { end: true, more: true })),
      frame(9, 0, 1, block(["a", "b".repeat(1000)])),
    ),
  ],
]);

group("timeout", [
  ["silence", nothing],
  ["silence from the start", nothing, nothing],
  ["interim answers now and then", (socket, stream) => drip(socket, nothing, head(stream, 103))],
  ["pings now and then", (socket) => drip(socket, nothing, ping())],
  [
    "a head that trickles",
    (socket) => drip(socket, headersFrame(1, block([":status", "200"]), { more: true }).subarray(0, 10), Buffer.from([0x88])),
  ],
]);

group("body-timeout", [
  ["a body that stalls", all(ok, data(1, "hello"))],
  ["a body that trickles", (socket, stream) => drip(socket, ok, data(stream, "."))],
  ["a body that never begins, with pings", (socket) => drip(socket, ok, ping())],
]);

test("each way of breaking the rules of HTTP/2 has its outcome, by one request and no more", async (context) => {
  const thrown: unknown[] = [];
  const note = (error: unknown) => thrown.push(error);
  process.on("uncaughtException", note).on("unhandledRejection", note);
  context.after(() => process.off("uncaughtException", note).off("unhandledRejection", note));
  const found = await Promise.all(rows.map(async (row) => ({ ...row, found: await outcomeOf(context, row) })));
  const others = found.filter((row) => row.found !== `${row.outcome} by 1`);
  assert.deepEqual(
    others.map((row) => [row.situation, row.outcome, row.found]),
    [],
  );
  assert.deepEqual(thrown, []);
});

async function outcomeOf(context: TestContext, { reply, greeting, outcome }: Row): Promise<string> {
  const answer: Reply = (socket, stream, resetConnection) => {
    if (typeof reply === "function") reply(socket, stream, resetConnection);
    else if (reply.length > 0) socket.write(reply);
  };
  const server = await frameServer(context, answer, greeting === undefined ? {} : { greeting });
  // Short only where that is what is tested: others may have to wait for a busy machine.
  const times = { headersMs: outcome === "timeout" ? 300 : 15_000, totalMs: outcome === "body-timeout" ? 2500 : 15_000 };
  const connected = await connect(trustingHttp(context), server.origin, times);
  const result = await connected.send({ headers: {}, sendBy: realClock.now() + 5000 });
  if (!result.ok) {
    if (result.reason !== "unsent")
      assert.ok(result.sentAt !== undefined && result.sentAt <= result.endedAt && result.detail !== "");
    return `${result.reason} by ${server.requests()}`;
  }
  assert.ok(result.sentAt <= result.answeredAt);
  const read = await result.body(bodyLimits);
  assert.ok(result.answeredAt <= read.endedAt);
  const said = read.ok ? `${result.status}: ${Buffer.from(read.bytes).toString("latin1")}` : read.reason;
  return `${said} by ${server.requests()}`;
}

/** A header block over as many frames as it takes. */
function headersInFrames(content: Buffer, end = false): Buffer {
  const size = 16_000;
  const rest = Array.from({ length: Math.ceil(content.length / size) }, (_, at) =>
    content.subarray(at * size, (at + 1) * size),
  );
  const frames = rest.map((piece, at) => {
    const last = at === rest.length - 1;
    return at === 0 ? headersFrame(1, piece, { end, more: !last }) : frame(9, last ? 4 : 0, 1, piece);
  });
  return all(...frames);
}

function pour(socket: TLSSocket, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; at += 50_000) socket.write(bytes.subarray(at, at + 50_000));
}

/** A body as fast as the client's window allows, whose updates it trusts to come. */
function windowed(socket: TLSSocket, stream: number): void {
  socket.write(head(stream, 200));
  const timer = setInterval(() => socket.write(data(stream, Buffer.alloc(16_000))), 1);
  socket.on("close", () => clearInterval(timer));
}

/** Writes the head, then the piece every few milliseconds until the other side has had enough. */
function drip(socket: TLSSocket, first: Buffer, piece: Buffer): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(piece), 15);
  socket.on("close", () => clearInterval(timer));
}
