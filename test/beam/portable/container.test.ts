import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { runWorker } from "../../../beam/portable/container.ts";
import { structApi } from "../../../beam/portable/sdk.ts";
import { readArguments, type WorkerArguments } from "../../../beam/portable/worker-arguments.ts";
import { systemClock } from "../../../io/clock.ts";
import { startFakeProvision } from "./fake-provision.ts";

const read: [given: string[], told: object, unknown: string[]][] = [
  [["--id=a", "--control_endpoint=h:1"], { id: "a", controlEndpoint: "h:1" }, []],
  [["--id", "a", "--provision_endpoint", "h:1"], { id: "a", provisionEndpoint: "h:1" }, []],
  [["-id=a", "-logging_endpoint", "h:2"], { id: "a", loggingEndpoint: "h:2" }, []],
  [["--id='job-001[a]_env'"], { id: "job-001[a]_env" }, []],
  [["--id=a=b", "--artifact_endpoint=h:3"], { id: "a=b", artifactEndpoint: "h:3" }, []],
  [["--id=a", "--semi_persist_dir=/tmp", "x"], { id: "a" }, ["--semi_persist_dir=/tmp", "x"]],
];
for (const [given, told, unknown] of read)
  test(`${given.join(" ")} is read`, () => assert.deepEqual(readArguments(given), { told, unknown }));

for (const given of [["--id"], ["--id="], ["--control_endpoint", ""]])
  test(`${JSON.stringify(given)} has no value`, () => assert.throws(() => readArguments(given), /^Error: --\w+ has no value$/));

interface Run {
  started: WorkerArguments[];
  logged: string[];
  /** As the machine ends the program. */
  end: () => void;
  watched: () => boolean;
  done: Promise<void>;
}

function run(given: string[], fail?: Error): Run {
  const started: WorkerArguments[] = [];
  const logged: string[] = [];
  let end: (() => void) | undefined;
  const done = runWorker({
    arguments: given,
    startWorker(told) {
      started.push(told);
      let stop = () => {};
      const ended = new Promise<void>((resolve, reject) => {
        stop = resolve;
        if (fail !== undefined) reject(fail);
      });
      return { ended, stop: async () => stop() };
    },
    onEnd(stop) {
      end = stop;
      return () => {
        end = undefined;
      };
    },
    clock: systemClock(),
    log: (level, message) => logged.push(`${level}: ${message}`),
  });
  return { started, logged, done, end: () => end?.(), watched: () => end !== undefined };
}

async function provisionFor(context: TestContext) {
  const provision = await startFakeProvision({
    controlEndpoint: { url: "h:1" },
    loggingEndpoint: { url: "h:2" },
    pipelineOptions: structApi.Struct.fromJson({ "beam:option:experiments:v1": ["a"] }),
  });
  context.after(() => provision.stop());
  return provision;
}

test("a worker that knows its id and provision endpoint asks for all else, and works until the machine ends it", async (context) => {
  const { endpoint } = await provisionFor(context);
  const { started, done, end, watched } = run(["--id='a'", `--provision_endpoint=${endpoint}`]);
  for (let turn = 0; turn < 1000 && !watched(); turn++) await new Promise((resolve) => setTimeout(resolve, 5));
  const endpoints = { controlEndpoint: "h:1", loggingEndpoint: "h:2", provisionEndpoint: endpoint };
  assert.deepEqual(started, [{ id: "a", ...endpoints, options: { experiments: ["a"] } }]);
  end();
  await done;
  assert.equal(watched(), false);
});

test("a worker that fails ends the program with the cause", async () => {
  const { done } = run(["--id=a", "--control_endpoint=h:1"], new Error("control stream broke"));
  await assert.rejects(done, /control stream broke/);
});

test("unknown arguments are told and left aside", async () => {
  const { done, logged, end } = run(["--id=a", "--control_endpoint=h:1", "--options={}"]);
  await new Promise((resolve) => setImmediate(resolve));
  end();
  await done;
  assert.ok(logged.includes("warn: arguments are not known and left aside"));
});

for (const [given, fault] of [
  [["--control_endpoint=h:1"], /needs --id/],
  [["--id=a"], /needs --control_endpoint/],
  [["--id=a", "--provision_endpoint=127.0.0.1:1"], /^RunnerError: GetProvisionInfo at 127\.0\.0\.1:1: UNAVAILABLE/],
] as const)
  test(`${given.join(" ")} is refused`, () => assert.rejects(run([...given]).done, fault));
