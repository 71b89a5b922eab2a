import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import {
  type Client,
  credentials,
  type Metadata,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceError,
  Metadata as ServiceMetadata,
  type StatusObject,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { type GrpcFault, type GrpcFaultProxy, startGrpcFaultProxy } from "./grpc-fault-proxy.ts";

const same = (message: Buffer) => message;
const codec = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
const service = {
  Add: { path: "/test.Tiny/Add", requestStream: false, responseStream: false, ...codec },
  Count: { path: "/test.Tiny/Count", requestStream: false, responseStream: true, ...codec },
  Echo: { path: "/test.Tiny/Echo", requestStream: true, responseStream: true, ...codec },
} as const;

/** What the server was asked to do, in order; each answer tells how many that makes. */
let done: string[] = [];
let server: Server;
let target: string;
let fault: GrpcFault | undefined;
let proxy: GrpcFaultProxy;
let client: Client;

before(async () => {
  server = tinyServer();
  target = `127.0.0.1:${await bind(server, 0)}`;
  proxy = await startGrpcFaultProxy({ target, faults: ({ count }) => (count === 1 ? fault : undefined) });
  client = new (makeGenericClientConstructor({}, "tiny"))(proxy.endpoint, credentials.createInsecure());
});
after(async () => {
  client.close();
  await proxy.stop();
  server.forceShutdown();
});

const unary: [name: string, fault: GrpcFault | undefined, first: string, done: string[]][] = [
  ["no fault passes the call", undefined, "1", ["a", "b"]],
  ["a refused call is never carried out", { kind: "refuse", code: 8 }, "code 8", ["b"]],
  ["a call whose answer is lost is carried out", { kind: "lose-answer", code: 14 }, "code 14", ["a", "b"]],
  ["a doubled call is carried out twice, and the second answer heard", { kind: "double" }, "2", ["a", "a", "b"]],
  ["of a doubled call the first answer may be heard", { kind: "double", heard: "first" }, "1", ["a", "a", "b"]],
  ["a slow call is carried out", { kind: "slow", ms: 20 }, "1", ["a", "b"]],
];
for (const [name, planned, first, expected] of unary)
  test(`${name}, and the next call is as ever`, async () => {
    plan(planned);
    assert.equal(await add("a"), first);
    // The second execution runs on behind the first answer.
    if (planned?.kind === "double") await until(() => done.length === 2);
    assert.equal(await add("b"), `${expected.length}`);
    assert.deepEqual(done, expected);
    assert.deepEqual(proxy.counts(), { Add: 2 });
  });

test("a slow call is carried out even when its client has given up", async () => {
  plan({ kind: "slow", ms: 100 });
  assert.equal(await add("a", { deadlineMs: 30 }), "code 4");
  assert.deepEqual(done, []);
  await until(() => done.length === 1);
});

test("the server's own refusal and both sides' metadata pass", async () => {
  plan(undefined);
  const metadata = new ServiceMetadata();
  metadata.set("x-ask", "what");
  metadata.set("x-ask-bin", Buffer.from([0, 255]));
  const call = client.makeUnaryRequest("/test.Tiny/Add", same, same, Buffer.from("fail"), metadata, () => {});
  const status = await statusOf(call);
  assert.equal(status.code, 9);
  assert.equal(status.details, "cannot: é");
  assert.deepEqual(status.metadata.get("x-heard"), ["what"]);
  assert.deepEqual(status.metadata.get("x-heard-bin"), [Buffer.from([0, 255])]);
});

test("a method that the server does not know is refused by the server", async () => {
  plan(undefined);
  const error = await new Promise<ServiceError | null>((resolve) =>
    client.makeUnaryRequest("/test.Other/What", same, same, Buffer.from(""), resolve),
  );
  assert.equal(error?.code, 12);
});

const streams: [name: string, fault: GrpcFault | undefined, heard: string[], code: number][] = [
  ["passes", undefined, ["0", "1", "2"], 0],
  ["is cut before its first message", { kind: "lose-answer", code: 14 }, [], 14],
  ["is cut after its first message", { kind: "lose-answer", code: 14, messages: 1 }, ["0"], 14],
  ["is cut after its last message", { kind: "lose-answer", code: 4, messages: 3 }, ["0", "1", "2"], 4],
  ["comes once of two", { kind: "double" }, ["0", "1", "2"], 0],
  ["is refused", { kind: "refuse", code: 8 }, [], 8],
];
for (const [name, planned, heard, code] of streams)
  test(`a streamed answer ${name}`, async () => {
    plan(planned);
    const stream = client.makeServerStreamRequest("/test.Tiny/Count", same, same, Buffer.from("3"));
    assert.deepEqual(await read(stream), { heard, code });
    assert.equal(done.length, { double: 2, refuse: 0 }[planned?.kind as string] ?? 1);
  });

test("large messages pass whole, also through the counting of messages", async () => {
  for (const planned of [undefined, { kind: "lose-answer", code: 14, messages: 1 } as const]) {
    plan(planned);
    const stream = client.makeServerStreamRequest("/test.Tiny/Count", same, same, Buffer.from("large"));
    const { heard } = await read(stream);
    assert.deepEqual(
      heard.map((text) => text.length),
      planned === undefined ? [3_000_000, 3_000_000] : [3_000_000],
    );
  }
});

test("a stream both ways passes message by message", async () => {
  plan(undefined);
  const chat = client.makeBidiStreamRequest("/test.Tiny/Echo", same, same);
  for (const word of ["a", "b"]) {
    chat.write(Buffer.from(word));
    assert.equal(String((await once(chat, "data"))[0]), word);
  }
  chat.end();
  assert.equal((await statusOf(chat)).code, 0);
});

for (const messages of [0, 1])
  test(`a stream both ways, its client's side open, is cut when message ${messages + 1} comes, and the server told`, async () => {
    plan({ kind: "lose-answer", code: 14, messages });
    const chat = client.makeBidiStreamRequest("/test.Tiny/Echo", same, same);
    const reading = read(chat);
    for (const word of ["a", "b"].slice(0, messages + 1)) chat.write(Buffer.from(word));
    assert.deepEqual(await reading, { heard: ["a"].slice(0, messages), code: 14 });
    await until(() => done.at(-1) === "cancelled");
  });

test("a stream whose client's side stays open cannot be doubled, and says so", async () => {
  plan({ kind: "double" });
  const chat = client.makeBidiStreamRequest("/test.Tiny/Echo", same, same);
  chat.write(Buffer.from("a"));
  assert.match((await statusOf(chat)).details, /cannot double/);
});

test("a client that gives up is heard of by the server", async () => {
  plan(undefined);
  const chat = client.makeBidiStreamRequest("/test.Tiny/Echo", same, same);
  chat.on("error", () => {});
  chat.write(Buffer.from("a"));
  await once(chat, "data");
  chat.cancel();
  await until(() => done.at(-1) === "cancelled");
});

test("calls are unavailable while the server is gone, and pass again when it is back", async () => {
  const other = tinyServer();
  const port = await bind(other, 0);
  const log: unknown[] = [];
  const before = await startGrpcFaultProxy({
    target: `127.0.0.1:${port}`,
    log: ({ method, status }) => log.push([method, status]),
  });
  const caller = new (makeGenericClientConstructor({}, "tiny"))(before.endpoint, credentials.createInsecure());
  plan(undefined);
  assert.equal(await add("a", { by: caller }), "1");
  other.forceShutdown();
  assert.equal(await add("b", { by: caller }), "code 14");
  const again = tinyServer();
  await bind(again, port);
  assert.equal(await add("c", { by: caller }), "2");
  assert.deepEqual(log, [
    ["Add", 0],
    ["Add", 14],
    ["Add", 0],
  ]);
  caller.close();
  await before.stop();
  again.forceShutdown();
});

function plan(planned: GrpcFault | undefined): void {
  fault = planned;
  done = [];
  proxy.reset();
}

/** The answer, or the code of the error. */
function add(what: string, { deadlineMs = 5_000, by = client } = {}): Promise<string> {
  return new Promise((resolve) => {
    const options = { deadline: Date.now() + deadlineMs };
    by.makeUnaryRequest("/test.Tiny/Add", same, same, Buffer.from(what), options, (error, answer) =>
      resolve(error === null ? String(answer) : `code ${error.code}`),
    );
  });
}

async function read(stream: NodeJS.EventEmitter): Promise<{ heard: string[]; code: number }> {
  const heard: string[] = [];
  stream.on("data", (message: Buffer) => heard.push(message.toString()));
  const { code } = await statusOf(stream);
  return { heard, code };
}

/** Not once(), which throws at the "error" that comes with a status. */
function statusOf(stream: NodeJS.EventEmitter): Promise<StatusObject> {
  stream.on("error", () => {});
  return new Promise((resolve) => stream.once("status", resolve));
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 500, "it did not come to hold in five seconds");
    await pause(10);
  }
}

function tinyServer(): Server {
  const tiny = new Server();
  tiny.addService(service, {
    Add: (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
      if (String(call.request) === "fail")
        return answer({ code: 9, details: "cannot: é", metadata: heardOf(call.metadata) }, null);
      done.push(String(call.request));
      answer(null, Buffer.from(`${done.length}`));
    },
    Count: (call: ServerWritableStream<Buffer, Buffer>) => {
      done.push("count");
      const large = String(call.request) === "large";
      const messages = large ? ["x", "y"].map((letter) => letter.repeat(3_000_000)) : ["0", "1", "2"];
      for (const message of messages) call.write(Buffer.from(message));
      call.end();
    },
    Echo: (call: ServerDuplexStream<Buffer, Buffer>) => {
      call.on("data", (message: Buffer) => call.write(message));
      call.on("end", () => call.end());
      call.on("cancelled", () => done.push("cancelled"));
    },
  });
  return tiny;
}

function heardOf(asked: Metadata): Metadata {
  const metadata = new ServiceMetadata();
  for (const value of asked.get("x-ask")) metadata.add("x-heard", value);
  for (const value of asked.get("x-ask-bin")) metadata.add("x-heard-bin", value);
  return metadata;
}

function bind(tiny: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    tiny.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
}
