// Does every engine give the same rows, to the last count?
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { buildBatch } from "../../../../beam/pipeline.ts";
import { withEnvironment } from "../../../../beam/portable/environment.ts";
import { flinkOptions, type PipelineOptions } from "../../../../beam/portable/options.ts";
import { submit } from "../../../../beam/portable/submit.ts";
import { startWorkerPool } from "../../../../beam/portable/worker-pool.ts";
import { systemClock } from "../../../../io/clock.ts";
import { harnessOf } from "../../../beam/portable/small-job.ts";
import { sets, words } from "../../../core/clusters/brute-force.ts";
import { engineTests } from "../../../engines/engine-tests.ts";
import { startFlink } from "../../../engines/flink.ts";
import { startPrism } from "../../../engines/prism.ts";
import { byHand, clustered, clusterJob, documentsOf } from "./lib.ts";

const HASHES = 60; // of each set
const hashes = sets.flatMap(([, make], number) => make(words(41 + number)).slice(0, HASHES));
const documents = documentsOf(hashes, 42);

async function onRunner(context: TestContext, { endpoint, options }: { endpoint: string; options?: PipelineOptions }) {
  const { definitions, build, results } = clusterJob(documents);
  const clock = systemClock();
  const pool = await startWorkerPool({ startWorker: harnessOf(definitions, quiet), clock, log: quiet });
  context.after(() => pool.stop());
  const proto = withEnvironment(buildBatch(build), { kind: "external", endpoint: pool.endpoint });
  const job = await submit({ endpoint, proto, jobName: "clusters", ...(options && { options }), clock, log: quiet });
  context.after(() => job.leave());
  assert.deepEqual(await job.ended, { kind: "ended", state: "done", why: [] });
  assert.deepEqual(results().rows, byHand(documents));
  assert.deepEqual(results().counts, (await clustered(documents)).counts);
}

function quiet(): void {}

await engineTests(["prism"], () => {
  test("Prism gives each document the row that is made by hand", async (context) => {
    const server = await startPrism();
    context.after(() => server.stop());
    await onRunner(context, server);
  });
});

await engineTests(["flink"], () => {
  test("Flink gives each document the row that is made by hand, two subtasks at a time", async (context) => {
    const server = await startFlink();
    context.after(() => server.stop());
    await onRunner(context, { endpoint: server.endpoint, options: flinkOptions({ parallelism: 2 }) });
  });
});
