import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { buildPipeline } from "../../../beam/pipeline.ts";
import { RunnerError } from "../../../beam/portable/call.ts";
import { withEnvironment } from "../../../beam/portable/environment.ts";
import { artifactApi, grpc, jobApi } from "../../../beam/portable/sdk.ts";
import { type PortableJob, submit } from "../../../beam/portable/submit.ts";
import { runnerApi } from "../../../beam/sdk.ts";
import { systemClock } from "../../../io/clock.ts";
import type { Clock } from "../../../ports/clock.ts";
import { batches, sink, word } from "../lib.ts";
import { type FakeJobService, type Outlet, type Script, startFakeJobService } from "./fake-job-service.ts";

const State = jobApi.JobState_Enum;
const { UNAVAILABLE, INVALID_ARGUMENT, DEADLINE_EXCEEDED } = grpc.status;

const proto = withEnvironment(
  buildPipeline((p) => {
    const { out } = p.source("Read", batches("read", word, []), {});
    p.each(
      "Take",
      sink("take", word, () => undefined),
      {},
      out,
    );
  }),
  { kind: "external", endpoint: "127.0.0.1:1" },
);

/** Pauses are cut short; the time limits of calls are as they are. */
const hasty: Clock = {
  now: () => systemClock().now(),
  after: (delayMs, run) => systemClock().after(delayMs < 5_000 ? Math.min(delayMs, 50) : delayMs, run),
};
/** All are cut short. */
const rash: Clock = { now: hasty.now, after: (delayMs, run) => systemClock().after(Math.min(delayMs, 1_500), run) };

interface Told {
  job: PortableJob;
  service: FakeJobService;
  logged: string[];
}

async function submitted(context: TestContext, script: Script, clock = hasty): Promise<Told> {
  const service = await startFakeJobService(script);
  context.after(() => service.stop());
  const logged: string[] = [];
  const log = (level: string, message: string, fields: object = {}) =>
    void logged.push([level, message, ...Object.values(fields)].join(" "));
  const job = await submit({ endpoint: service.endpoint, proto, jobName: "a-job", clock, log });
  context.after(() => job.leave());
  return { job, service, logged };
}

const through =
  (...states: number[]) =>
  (outlet: Outlet<{ state: number }>) => {
    for (const state of states) outlet.write({ state });
    outlet.end();
  };

test("a job is prepared with its pipeline, name and options, run, and followed to its end", async (context) => {
  const { job, service, logged } = await submitted(context, { states: through(State.STARTING, State.RUNNING, State.DONE) });
  assert.deepEqual(await job.ended, { kind: "ended", state: "done", why: [] });
  assert.equal(job.id, "job");
  const [{ pipeline, pipelineOptions, jobName }] = service.prepared as [(typeof service.prepared)[0]];
  assert.deepEqual(runnerApi.Pipeline.toBinary(pipeline!), runnerApi.Pipeline.toBinary(proto));
  assert.equal(jobName, "a-job");
  assert.deepEqual(Object.keys(pipelineOptions?.fields ?? {}), ["beam:option:streaming:v1", "beam:option:job_name:v1"]);
  assert.deepEqual(
    logged.filter((line) => line.includes("state")).map((line) => line.split(" ").at(-1)),
    ["starting", "running", "done"],
  );
});

test("a failed job tells the runner's last errors, also those that come after its last state", async (context) => {
  const { job } = await submitted(context, {
    states: through(State.FAILED),
    messages: (outlet) => {
      setTimeout(() => {
        const error = jobApi.JobMessage_MessageImportance.JOB_MESSAGE_ERROR;
        const messageResponse = { importance: error, messageText: "a bundle failed", messageId: "", time: "" };
        outlet.write({ response: { oneofKind: "messageResponse", messageResponse } });
        outlet.end();
      }, 20);
    },
  });
  assert.deepEqual(await job.ended, { kind: "ended", state: "failed", why: ["a bundle failed"] });
});

test("artifacts are answered as they were asked for, with the token first, until the runner ends the stream", async (context) => {
  const artifact = runnerApi.ArtifactInformation.create({ typeUrn: "type", roleUrn: "role" });
  const { service } = await submitted(context, {
    asks: [{ oneofKind: "resolveArtifact", resolveArtifact: { artifacts: [artifact], preferredUrns: [] } }],
    states: through(State.DONE),
  });
  const [token, answer] = service.staged;
  assert.equal(token?.stagingToken, "token");
  assert.equal(token?.response.oneofKind, undefined);
  assert.deepEqual(
    answer,
    artifactApi.ArtifactResponseWrapper.create({
      stagingToken: "token",
      response: { oneofKind: "resolveArtifactResponse", resolveArtifactResponse: { replacements: [artifact] } },
    }),
  );
});

test("a stream of states that breaks is opened again, and a state that passed meanwhile is asked for", async (context) => {
  const { job } = await submitted(context, {
    states: (outlet, opened) => {
      outlet.write({ state: State.RUNNING });
      if (opened === 1) outlet.emit("error", { code: UNAVAILABLE, details: "gone" });
      else outlet.end();
    },
    getState: (answer, asked) => answer(null, { state: asked < 3 ? State.RUNNING : State.CANCELLED }),
  });
  assert.deepEqual(await job.ended, { kind: "ended", state: "cancelled", why: [] });
});

test("a job service that is gone for good loses the job, with the cause", async (context) => {
  const { job, service } = await submitted(context, { states: (outlet) => outlet.write({ state: State.RUNNING }) });
  service.stop();
  const end = await job.ended;
  assert.equal(end.kind, "lost");
  assert.match(end.kind === "lost" ? end.error.message : "", new RegExp(`^GetState at ${service.endpoint}: UNAVAILABLE: `));
});

test("cancel, drain and state tell what the runner answers", async (context) => {
  const script: Script = { states: () => {}, drain: (answer) => answer(null, { state: State.DRAINING }) };
  const { job } = await submitted(context, script);
  assert.equal(await job.cancel(), "cancelling");
  assert.equal(await job.state(), "running");
  assert.deepEqual(await job.drain(), { kind: "draining", state: "draining" });
});

test("a runner that cannot drain is told so", async (context) => {
  const { job } = await submitted(context, { states: () => {} });
  assert.deepEqual(await job.drain(), { kind: "unsupported" });
});

test("metrics come with their values read", async (context) => {
  const info = { urn: "beam:metric:element_count:v1", type: "beam:metrics:sum_int64:v1", labels: { PCOLLECTION: "p" } };
  const { job } = await submitted(context, {
    states: () => {},
    metrics: (answer) =>
      answer(null, { metrics: { attempted: [], committed: [{ ...info, payload: Uint8Array.of(0xac, 2) }] } }),
  });
  const { committed } = await job.metrics();
  assert.deepEqual(committed, [{ urn: info.urn, labels: info.labels, value: { kind: "sum", value: 300 } }]);
});

const refused: [what: string, script: Script, code: number, message: RegExp][] = [
  [
    "a refusal to prepare",
    { prepare: (_request, answer) => answer({ code: INVALID_ARGUMENT, details: "no such coder" }) },
    INVALID_ARGUMENT,
    /^Prepare at 127\.0\.0\.1:\d+: INVALID_ARGUMENT: no such coder$/,
  ],
  ["silence", { run: () => {} }, DEADLINE_EXCEEDED, /^Run at 127\.0\.0\.1:\d+: DEADLINE_EXCEEDED: no answer within 120 s$/],
  [
    "a wish for an artifact's bytes",
    { asks: [{ oneofKind: "getArtifact", getArtifact: {} }] },
    grpc.status.FAILED_PRECONDITION,
    /^ReverseArtifactRetrievalService at 127\.0\.0\.1:\d+: FAILED_PRECONDITION: getArtifact of /,
  ],
];
for (const [what, script, code, message] of refused)
  test(`${what} is an error that names endpoint, call and cause`, async (context) => {
    await assert.rejects(submitted(context, script, code === DEADLINE_EXCEEDED ? rash : hasty), (error: unknown) => {
      assert.ok(error instanceof RunnerError);
      assert.equal(error.code, code);
      assert.match(error.message, message);
      return true;
    });
  });

test("an endpoint where nobody listens is an error that names it", async () => {
  const log = () => undefined;
  await assert.rejects(submit({ endpoint: "127.0.0.1:1", proto, jobName: "a-job", clock: systemClock(), log }), (error) => {
    assert.match(String(error), /^RunnerError: Prepare at 127\.0\.0\.1:1: UNAVAILABLE: /);
    return true;
  });
});

for (const jobName of ["", "A", "1a", "a_b", "a-", "ä", "a".repeat(64)])
  test(`${JSON.stringify(jobName)} is no name of a job`, async () => {
    const log = () => undefined;
    await assert.rejects(submit({ endpoint: "127.0.0.1:1", proto, jobName, clock: systemClock(), log }), /a job is named by/);
  });
