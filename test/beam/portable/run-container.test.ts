import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fnApi, grpc } from "../../../beam/portable/sdk.ts";

interface Control {
  metadata: import("@grpc/grpc-js").Metadata;
  on(event: "data", take: () => void): void;
  end(): void;
}

/** A runner that has nothing to do: it tells of each worker that asks for instructions. */
async function idleRunner(context: TestContext) {
  const { InstructionRequest: Request, InstructionResponse: Response } = fnApi;
  const server = new grpc.Server();
  const { promise: asked, resolve } = Promise.withResolvers<Control>();
  const control = {
    path: "/org.apache.beam.model.fn_execution.v1.BeamFnControl/Control",
    requestStream: true,
    responseStream: true,
    requestSerialize: (value: object) => Buffer.from(Response.toBinary(Response.create(value))),
    requestDeserialize: (bytes: Buffer) => Response.fromBinary(bytes),
    responseSerialize: (value: object) => Buffer.from(Request.toBinary(Request.create(value))),
    responseDeserialize: (bytes: Buffer) => Request.fromBinary(bytes),
  } as const;
  server.addService(
    { control },
    {
      control: (call: Control) => {
        call.on("data", () => {});
        resolve(call);
      },
    },
  );
  const port = await new Promise<number>((bound, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, taken) =>
      error === null ? bound(taken) : reject(error),
    );
  });
  context.after(() => server.forceShutdown());
  return { endpoint: `127.0.0.1:${port}`, asked };
}

/** The worker of the small job as a runner starts it, once it has asked for instructions. */
async function worker(context: TestContext) {
  const runner = await idleRunner(context);
  const folder = mkdtempSync(join(tmpdir(), "gleaner-container-"));
  const file = join(folder, "told");
  const child: ChildProcess = spawn(
    process.execPath,
    [join(import.meta.dirname, "worker-main.ts"), "--id=a", `--control_endpoint=${runner.endpoint}`],
    { env: { ...process.env, SMALL_JOB_FILE: file }, stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  context.after(() => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  const control = await runner.asked;
  assert.deepEqual(control.metadata.get("worker_id"), ["a"]);
  await told(folder, file);
  return { child, control, said: () => said };
}

/** The entry tells that it has started after it has asked the runner. */
async function told(folder: string, file: string): Promise<void> {
  const changes = watch(folder);
  while (!has(file)) await once(changes, "change");
  changes.close();
}

function has(file: string): boolean {
  try {
    return readFileSync(file, "utf8").startsWith("started a ");
  } catch {
    return false;
  }
}

for (const signal of ["SIGTERM", "SIGINT"] as const)
  test(`a worker that is told to end by ${signal} ends well`, async (context) => {
    const { child, said } = await worker(context);
    child.kill(signal);
    assert.deepEqual(await once(child, "exit"), [0, null], said());
    assert.match(said(), /"message":"the worker is told to end"/);
  });

test("a worker whose runner has no more for it ends well", async (context) => {
  const { child, control, said } = await worker(context);
  control.end();
  assert.deepEqual(await once(child, "exit"), [0, null], said());
});
