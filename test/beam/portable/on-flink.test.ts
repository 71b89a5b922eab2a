import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { flinkOptions } from "../../../beam/portable/options.ts";
import { engineTests } from "../../engines/engine-tests.ts";
import { startFlink } from "../../engines/flink.ts";
import { runInPool, runInProcess, untilTold, untilWhole } from "./run-small-job.ts";
import { WORDS_A_KEY } from "./small-job.ts";

async function flink(context: TestContext) {
  const server = await startFlink();
  context.after(() => server.stop());
  return { endpoint: server.endpoint, options: flinkOptions({ parallelism: 1 }) };
}

await engineTests(["flink"], () => {
  test("a job runs with workers of a pool, and is told to cancel", async (context) => {
    const run = await runInPool(context, await flink(context));
    await untilWhole(run);
    assert.equal(await run.job.state(), "running");
    assert.deepEqual(await run.job.drain(), { kind: "unsupported" });
    // Beam's job server tells the one or the other, and the mini-cluster goes on.
    assert.match(await run.job.cancel(), /^(?:running|cancelled)$/);
  });

  test("a job runs with workers that are processes of the runner's machine, and goes on when one is killed", async (context) => {
    const run = await runInProcess(context, await flink(context));
    await untilWhole(run);
    const [started = "", ...before] = run.told();
    assert.match(started, /^started \S+ \d+ told$/);
    process.kill(Number(started.split(" ")[2]), "SIGKILL");
    // Another worker, which goes on from the kept state.
    const more = new RegExp(`^key-\\d (?:[${WORDS_A_KEY + 1}-9]|\\d\\d)$`);
    await untilTold(run, (told) => {
      const after = told.slice(1 + before.length);
      return after.some((line) => line.startsWith("started ")) && after.some((line) => more.test(line));
    });
    assert.equal(await run.job.state(), "running");
  });
});
