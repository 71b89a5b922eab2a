import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  beamFnExternalWorkerPoolDefinition,
  fnApi,
  grpc,
  type StartWorkerRequest,
  structApi,
} from "../../../beam/portable/sdk.ts";
import type { RunningWorker, WorkerArguments } from "../../../beam/portable/worker-arguments.ts";
import { startWorkerPool, type WorkerPoolOptions } from "../../../beam/portable/worker-pool.ts";
import { systemClock } from "../../../io/clock.ts";
import { startFakeProvision } from "./fake-provision.ts";

interface Stub extends RunningWorker {
  given: WorkerArguments;
  stops: number;
  end: () => void;
  fail: (error: Error) => void;
}

/** A worker that runs until it is stopped, ended or failed. */
function stub(given: WorkerArguments): Stub {
  let end = () => {};
  let fail = (_error: Error) => {};
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  const worker = { given, stops: 0, end, fail, ended, stop: async () => end() };
  worker.stop = async () => {
    worker.stops += 1;
    end();
  };
  return worker;
}

type Call = (request: object) => Promise<{ error: string }>;

async function poolFor(context: TestContext, startWorker?: WorkerPoolOptions["startWorker"]) {
  const started: Stub[] = [];
  const logged: string[] = [];
  const pool = await startWorkerPool({
    startWorker:
      startWorker ??
      ((given) => {
        started.push(stub(given));
        return started.at(-1)!;
      }),
    clock: systemClock(),
    log: (level, message) => logged.push(`${level}: ${message}`),
  });
  const Client = grpc.makeGenericClientConstructor(beamFnExternalWorkerPoolDefinition, "pool");
  const client = new Client(pool.endpoint, grpc.credentials.createInsecure());
  const call =
    (name: string): Call =>
    (request) =>
      new Promise((resolve, reject) => {
        const method = client[name] as (request: object, answered: (error: Error | null, value: never) => void) => void;
        method.call(client, request, (error, value) => (error === null ? resolve(value) : reject(error)));
      });
  context.after(() => {
    client.close();
    return pool.stop();
  });
  return { pool, started, logged, start: call("startWorker"), stop: call("stopWorker") };
}

const request = (workerId: string, given: Partial<StartWorkerRequest> = {}): StartWorkerRequest =>
  fnApi.StartWorkerRequest.create({
    workerId,
    controlEndpoint: { url: "127.0.0.1:1" },
    loggingEndpoint: { url: "127.0.0.1:2" },
    ...given,
  });
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("each request starts a worker with its id and endpoints, until it is stopped", async (context) => {
  const { pool, started, start, stop } = await poolFor(context);
  assert.deepEqual([await start(request("a")), await start(request("b"))], [{ error: "" }, { error: "" }]);
  const endpoints = { controlEndpoint: "127.0.0.1:1", loggingEndpoint: "127.0.0.1:2" };
  assert.deepEqual(
    started.map(({ given }) => given),
    [
      { id: "a", ...endpoints, options: {} },
      { id: "b", ...endpoints, options: {} },
    ],
  );
  assert.deepEqual(await stop({ workerId: "a" }), { error: "" });
  assert.deepEqual(pool.workers(), ["b"]);
  assert.deepEqual([started[0]?.stops, started[1]?.stops], [1, 0]);
});

test("to stop a worker that is not there is no error", async (context) => {
  const { stop } = await poolFor(context);
  assert.deepEqual(await stop({ workerId: "none" }), { error: "" });
});

test("an id that is started anew replaces the worker that has it", async (context) => {
  const { pool, started, start } = await poolFor(context);
  await Promise.all([start(request("a")), start(request("a")), start(request("a"))]);
  assert.deepEqual(
    started.map(({ stops }) => stops),
    [1, 1, 0],
  );
  assert.deepEqual(pool.workers(), ["a"]);
});

test("a worker that cannot be started is an answer with the cause", async (context) => {
  const { pool, start } = await poolFor(context, () => {
    throw new Error("no DoFn is registered as 'x'");
  });
  assert.deepEqual(await start(request("a")), { error: "no DoFn is registered as 'x'" });
  assert.deepEqual(pool.workers(), []);
});

test("a worker that ends or fails by itself is forgotten, and its failure is told", async (context) => {
  const { pool, started, start, logged } = await poolFor(context);
  await start(request("a"));
  await start(request("b"));
  started[0]?.end();
  started[1]?.fail(new Error("control stream broke"));
  await settle();
  assert.deepEqual(pool.workers(), []);
  assert.deepEqual(logged.slice(2).sort(), ["error: a worker has failed", "info: a worker has ended"]);
});

test("the end of the pool stops its workers", async (context) => {
  const { pool, started, start } = await poolFor(context);
  await start(request("a"));
  await pool.stop();
  assert.equal(started[0]?.stops, 1);
  assert.deepEqual(pool.workers(), []);
});

test("the provision service is asked, as this worker, for what the request leaves out", async (context) => {
  const provision = await startFakeProvision({
    pipelineOptions: structApi.Struct.fromJson({ "beam:option:job_name:v1": "crawl", other: 1 }),
    artifactEndpoint: { url: "127.0.0.1:3" },
    loggingEndpoint: { url: "127.0.0.1:4" },
  });
  context.after(() => provision.stop());
  const { started, start } = await poolFor(context);
  await start(request("a", { provisionEndpoint: { url: provision.endpoint } }));
  assert.deepEqual(provision.workers, ["a"]);
  assert.deepEqual(started[0]?.given, {
    id: "a",
    controlEndpoint: "127.0.0.1:1",
    loggingEndpoint: "127.0.0.1:2",
    artifactEndpoint: "127.0.0.1:3",
    provisionEndpoint: provision.endpoint,
    options: { jobName: "crawl", other: 1 },
  });
});
