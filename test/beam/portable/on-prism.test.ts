import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { engineTests } from "../../engines/engine-tests.ts";
import { startPrism } from "../../engines/prism.ts";
import { runInPool, runInProcess, untilWhole } from "./run-small-job.ts";

async function prism(context: TestContext): Promise<{ endpoint: string }> {
  const server = await startPrism();
  context.after(() => server.stop());
  return server;
}

await engineTests(["prism"], () => {
  test("a job with workers of a pool runs, counts its elements, and ends when it is cancelled", async (context) => {
    const run = await runInPool(context, await prism(context));
    await untilWhole(run);
    assert.deepEqual(await run.job.drain(), { kind: "unsupported" });
    const { committed } = await run.job.metrics();
    const counts = committed.filter(({ urn }) => urn === "beam:metric:element_count:v1");
    assert.ok(counts.some(({ value }) => value.kind === "sum" && value.value > 1));
    assert.match(await run.job.cancel(), /^cancel/);
    assert.deepEqual(await run.job.ended, { kind: "ended", state: "cancelled", why: [] });
  });

  test("a job whose bundle fails has failed, with the cause", async (context) => {
    const { job } = await runInPool(context, await prism(context), () => {
      throw new Error("the disk is full");
    });
    const end = await job.ended;
    assert.equal(end.kind === "ended" && end.state, "failed");
    assert.match(end.kind === "ended" ? end.why.join("\n") : "", /the disk is full/);
  });

  test("a job runs with workers that are processes of the runner's machine", async (context) => {
    const run = await runInProcess(context, await prism(context));
    await untilWhole(run);
    // With the job's own option, and the id without the quotes that Prism puts around it.
    assert.match(run.told()[0] ?? "", /^started job-001\[small-job\]_\w+ \d+ told$/);
    await run.job.cancel();
    assert.equal((await run.job.ended).kind, "ended");
  });
});
