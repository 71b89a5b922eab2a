import assert from "node:assert/strict";
import { createServer, type ServerHttp2Stream } from "node:http2";
import { suite, type TestContext, test } from "node:test";
import { startCall, unaryCall } from "../../../beam/harness/grpc-call.ts";

type Serve = (stream: ServerHttp2Stream) => void;

/** A server that answers each call as it is told; resolves with its endpoint. */
async function serve(t: TestContext, answer: Serve): Promise<string> {
  const server = createServer();
  const sessions = new Set<{ destroy(): void }>();
  server.on("session", (session) => sessions.add(session));
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    answer(stream);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as { port: number }).port}`;
}

const framed = (message: Uint8Array, flag = 0): Buffer => {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
};

/** All that came, and how the call ended. */
function heard(endpoint: string): Promise<{ messages: string[]; error: Error | undefined }> {
  const messages: string[] = [];
  return new Promise((resolve) =>
    startCall({
      ...{ endpoint, path: "/a.Service/Call", metadata: { worker_id: "w" } },
      onMessage: (message) => void messages.push(message.toString()),
      onEnd: (error) => resolve({ messages, error }),
    }),
  );
}

/** Gives the bytes in pieces of this size, then grpc-status 0. */
const inPieces =
  (bytes: Buffer, size: number): Serve =>
  async (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    for (let at = 0; at < bytes.length; at += size)
      await new Promise((resolve) => stream.write(bytes.subarray(at, at + size), resolve));
    stream.end();
  };

suite("what comes", () => {
  const texts = ["a", "", "x".repeat(300), "end"];
  const bytes = Buffer.concat(texts.map((one) => framed(Buffer.from(one))));
  for (const size of [1, 4, 7, 310, bytes.length])
    test(`is the same messages in pieces of ${size} bytes`, async (t) => {
      const { messages, error } = await heard(await serve(t, inPieces(bytes, size)));
      assert.deepEqual(messages, texts);
      assert.equal(error, undefined);
    });

  const faults: [why: string, Serve, RegExp][] = [
    ["a compressed message", inPieces(framed(Buffer.from("a"), 1), 100), /compressed/],
    ["a message of four gigabytes", inPieces(Buffer.from([0, 0xff, 0xff, 0xff, 0xff]), 100), /of 4294967295 bytes/],
    ["an HTTP error", (stream) => stream.respond({ ":status": 503 }, { endStream: true }), /HTTP status 503/],
    [
      "a status in the headers alone",
      (stream) =>
        stream.respond({ ":status": 200, "grpc-status": "5", "grpc-message": "no%20such%20one" }, { endStream: true }),
      /gRPC status 5: no such one/,
    ],
    [
      "words that are not well-formed",
      (stream) => stream.respond({ ":status": 200, "grpc-status": "2", "grpc-message": "100%" }, { endStream: true }),
      /gRPC status 2: 100%/,
    ],
    ["a stream that breaks off", (stream) => stream.close(2), /NGHTTP2_INTERNAL_ERROR/],
    ["a connection that goes", (stream) => stream.session!.destroy(), /without a word/],
    ["an end without a status", (stream) => stream.respond({ ":status": 200 }, { endStream: true }), /without a word/],
  ];
  for (const [why, answer, expected] of faults)
    test(`that is ${why} ends the call once, with the reason`, async (t) => {
      const { messages, error } = await heard(await serve(t, answer));
      assert.match(error?.message ?? "", expected);
      assert.deepEqual(messages, []);
    });

  test("and is not taken by whoever listens ends the call with what that threw", async (t) => {
    const endpoint = await serve(t, inPieces(bytes, 1000));
    const error = await new Promise<Error | undefined>((resolve) =>
      startCall({
        ...{ endpoint, path: "/a.Service/Call", metadata: {}, onEnd: resolve },
        onMessage() {
          throw new Error("not what I know");
        },
      }),
    );
    assert.equal(error?.message, "not what I know");
  });
});

suite("what is sent", () => {
  test("arrives whole and in order, with path and metadata, before the end of sending", async (t) => {
    const got: Buffer[] = [];
    let headers: Record<string, unknown> = {};
    const ended = Promise.withResolvers<void>();
    const endpoint = await serve(t, (stream) => {
      stream.respond({ ":status": 200 });
      stream.on("data", (chunk: Buffer) => got.push(chunk));
      stream.on("end", () => {
        stream.close();
        ended.resolve();
      });
      headers = stream.sentHeaders ?? {};
    });
    const over = Promise.withResolvers<void>();
    const call = startCall({
      endpoint,
      path: "/a.Service/Call",
      metadata: { worker_id: "w" },
      onMessage: () => undefined,
      onEnd: () => over.resolve(),
    });
    const messages = Array.from({ length: 2000 }, (_, index) => Buffer.from(`${index}`.repeat(100)));
    for (const message of messages) call.send(message);
    call.endSending();
    call.send(Buffer.from("too late"));
    await ended.promise;
    await over.promise;
    assert.deepEqual(Buffer.concat(got), Buffer.concat(messages.map((one) => framed(one))));
    assert.equal(headers[":status"], 200);
  });

  test("asks for patience while the other side takes nothing", async (t) => {
    let peer: ServerHttp2Stream | undefined;
    const endpoint = await serve(t, (stream) => {
      peer = stream;
      stream.respond({ ":status": 200 });
      stream.pause();
    });
    const call = startCall({
      endpoint,
      path: "/a.Service/Call",
      metadata: {},
      onMessage: () => undefined,
      onEnd: () => undefined,
    });
    const megabyte = Buffer.alloc(1024 * 1024);
    let sent = 0;
    for (; sent < 64 && call.drained() === undefined; sent++) {
      call.send(megabyte);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    assert.ok(sent < 20, `${sent} MB`);
    const room = call.drained()!;
    peer!.resume();
    await room;
    assert.equal(call.drained(), undefined);
    call.destroy();
  });
});

test("a question of one message has one answer, or rejects", async (t) => {
  const echo = await serve(t, (stream) => {
    const parts: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => parts.push(chunk));
    stream.on("end", () => {
      stream.respond({ ":status": 200 }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(Buffer.concat(parts));
    });
  });
  const call = { path: "/a.Service/Ask", metadata: {} };
  assert.equal((await unaryCall({ endpoint: echo, ...call }, Buffer.from("hello"))).toString(), "hello");
  const mute = await serve(t, (stream) => stream.respond({ ":status": 200 }, { endStream: true }));
  await assert.rejects(unaryCall({ endpoint: mute, ...call }, Buffer.from("hello")), /without a word/);
  const answerless = await serve(t, inPieces(Buffer.alloc(0), 1));
  await assert.rejects(unaryCall({ endpoint: answerless, ...call }, Buffer.from("hello")), /gave no answer/);
});
