import { test } from "node:test";
import { flinkOptions } from "../../../beam/portable/options.ts";
import { engineTests } from "../engine-tests.ts";
import { startFlink } from "../flink.ts";
import { cases } from "./cases.ts";
import { startConformance } from "./on-runner.ts";
import { untilTold } from "./telling.ts";

await engineTests(["flink"], () => {
  test("the conformance set", async (context) => {
    const flink = await startFlink();
    context.after(() => flink.stop());
    const options = flinkOptions({ parallelism: 1 });
    const { run } = await startConformance(context, { endpoint: flink.endpoint, options });
    for (const [number, one] of cases.entries())
      await context.test(one.name, async () => {
        const { job, told, ended } = await run(one, number);
        await untilTold(one, told, ended);
        // It may go on all the same, until the runner ends: see startFlink.
        await job.cancel();
      });
  });
});
