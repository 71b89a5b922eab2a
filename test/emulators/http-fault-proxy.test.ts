import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type HttpFault, type HttpFaultProxy, startHttpFaultProxy } from "./http-fault-proxy.ts";
import { storageMethod } from "./storage-methods.ts";

/** What the server was asked to do, in order; each answer tells how many that makes. */
let done: string[] = [];
let server: Server;
let fault: HttpFault | undefined;
let proxy: HttpFaultProxy;

before(async () => {
  server = await tinyServer();
  proxy = await startHttpFaultProxy({ target: addressOf(server), faults: ({ count }) => (count === 1 ? fault : undefined) });
});
after(async () => {
  await proxy.stop();
  await closed(server);
});

const cases: [name: string, fault: HttpFault | undefined, first: string, done: string[]][] = [
  ["no fault passes the request", undefined, "200 1", ["a", "b"]],
  ["a refused request is never carried out", { kind: "refuse", status: 503 }, "503", ["b"]],
  ["a request may be refused by a reset", { kind: "refuse", status: "reset" }, "ECONNRESET", ["b"]],
  ["a request whose answer is lost is carried out", { kind: "lose-answer", status: 503 }, "503", ["a", "b"]],
  ["an answer may be lost by a reset", { kind: "lose-answer", status: "reset" }, "ECONNRESET", ["a", "b"]],
  ["an answer may break off", { kind: "lose-answer", status: "reset", bytes: 1 }, "200, then ECONNRESET", ["a", "b"]],
  ["a doubled request is carried out twice, and the second answer heard", { kind: "double" }, "200 2", ["a", "a", "b"]],
  ["of a doubled request the first answer may be heard", { kind: "double", heard: "first" }, "200 1", ["a", "a", "b"]],
  ["a slow request is carried out", { kind: "slow", ms: 20 }, "200 1", ["a", "b"]],
];
for (const [name, planned, first, expected] of cases)
  test(`${name}, and the next request is as ever`, async () => {
    plan(planned);
    assert.equal(await put("a"), first);
    // The second execution runs on behind the first answer.
    if (planned?.kind === "double") await until(() => done.length === 2);
    assert.equal(await put("b"), `200 ${expected.length}`);
    assert.deepEqual(done, expected);
    assert.deepEqual(proxy.counts(), { "objects.insert": 2 });
  });

test("a slow request is carried out even when its client has given up", async () => {
  plan({ kind: "slow", ms: 100 });
  assert.match(await put("a", proxy.endpoint, 30), /abort/i);
  assert.deepEqual(done, []);
  await until(() => done.length === 1);
});

test("headers pass both ways, and the server's own refusal", async () => {
  plan(undefined);
  const headers = { "x-ask": "what", "content-type": "text/fail" };
  const answer = await fetch(`http://${proxy.endpoint}/upload/storage/v1/b/x/o`, { method: "POST", headers, body: "a" });
  assert.deepEqual([answer.status, answer.headers.get("x-heard"), await answer.text()], [412, "what", "cannot"]);
});

test("a large body passes both ways", async () => {
  plan(undefined);
  const body = Buffer.alloc(5_000_000, "x");
  const answer = await fetch(`http://${proxy.endpoint}/echo`, { method: "POST", body });
  assert.ok(Buffer.from(await answer.arrayBuffer()).equals(body));
});

test("requests are reset while the server is gone, and pass again when it is back", async () => {
  const other = await tinyServer();
  const target = addressOf(other);
  const log: unknown[] = [];
  const before = await startHttpFaultProxy({ target, log: ({ count, status }) => log.push([count, status]) });
  done = [];
  assert.equal(await put("a", before.endpoint), "200 1");
  await closed(other);
  assert.equal(await put("b", before.endpoint), "ECONNRESET");
  const again = await tinyServer(Number(target.split(":")[1]));
  assert.equal(await put("c", before.endpoint), "200 2");
  await until(() => log.length === 3);
  assert.deepEqual(log, [
    [1, 200],
    [2, undefined],
    [3, 200],
  ]);
  await before.stop();
  await closed(again);
});

const methods: [verb: string, target: string, method: string][] = [
  ["POST", "/upload/storage/v1/b/x/o?uploadType=multipart&name=a%2Fb", "objects.insert"],
  ["POST", "/upload/storage/v1/b/x/o?uploadType=resumable&name=a", "objects.insert.begin"],
  ["PUT", "/upload/storage/v1/b/x/o?uploadType=resumable&name=a&upload_id=1", "objects.insert.chunk"],
  ["GET", "/storage/v1/b/x/o/a%2Fb?", "objects.get"],
  ["GET", "/storage/v1/b/x/o/a%2Fb?alt=media", "objects.get.media"],
  ["GET", "/download/storage/v1/b/x/o/a?alt=media", "objects.get.media"],
  ["GET", "/storage/v1/b/x/o?prefix=a", "objects.list"],
  ["POST", "/storage/v1/b/x/o/a/compose", "objects.compose"],
  ["DELETE", "/storage/v1/b/x/o/a", "objects.delete"],
  ["POST", "/storage/v1/b?project=p", "buckets.insert"],
  ["GET", "/what/else?x", "GET /what/else"],
];
for (const [verb, target, method] of methods)
  test(`${verb} ${target} is ${method}`, () => {
    assert.equal(storageMethod(verb, target), method);
  });

function plan(planned: HttpFault | undefined): void {
  fault = planned;
  done = [];
  proxy.reset();
}

/** The answer, or the failure. */
async function put(what: string, endpoint = proxy.endpoint, msMax = 5_000): Promise<string> {
  const url = `http://${endpoint}/upload/storage/v1/b/x/o?name=${what}`;
  let status: number | undefined;
  try {
    const answer = await fetch(url, { method: "POST", body: what, signal: AbortSignal.timeout(msMax) });
    status = answer.status;
    const body = await answer.text();
    return status === 200 ? `200 ${body.trim()}` : `${status}`;
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    const code = cause?.code === "UND_ERR_SOCKET" ? "ECONNRESET" : (cause?.code ?? message);
    return status === undefined ? code : `${status}, then ${code}`;
  }
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 500, "it did not come to hold in five seconds");
    await pause(10);
  }
}

async function tinyServer(port = 0): Promise<Server> {
  const tiny = createServer(async (request, response) => {
    const pieces = await request.toArray();
    const body = Buffer.concat(pieces);
    if (request.url === "/echo") return void response.end(body);
    const fails = request.headers["content-type"] === "text/fail";
    if (fails) return void response.writeHead(412, { "x-heard": request.headers["x-ask"] }).end("cannot");
    done.push(body.toString());
    response.end(`${done.length}`.padEnd(10));
  });
  tiny.listen(port, "127.0.0.1");
  await once(tiny, "listening");
  return tiny;
}

function addressOf(tiny: Server): string {
  return `127.0.0.1:${(tiny.address() as AddressInfo).port}`;
}

function closed(tiny: Server): Promise<void> {
  return new Promise((resolve) => {
    tiny.close(() => resolve());
    tiny.closeAllConnections();
  });
}
