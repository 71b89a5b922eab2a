import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { engineTests } from "../engine-tests.ts";
import { startPrism } from "../prism.ts";
import { cases } from "./cases.ts";
import { startConformance } from "./on-runner.ts";
import { untilTold } from "./telling.ts";

await engineTests(["prism"], () => {
  test("the conformance set", async (context) => {
    const prism = await startPrism();
    context.after(() => prism.stop());
    const { run, harnesses } = await startConformance(context, prism);
    for (const [number, one] of cases.entries())
      await context.test(one.name, async () => {
        const { job, told, ended } = await run(one, number);
        if (one.failsWith === undefined) {
          await untilTold(one, told, ended).finally(() => job.cancel());
          assert.deepEqual(await job.ended, { kind: "ended", state: "cancelled", why: [] });
          return;
        }
        // Prism tries nothing again.
        const end = await job.ended;
        assert.equal(end.kind === "ended" && end.state, "failed");
        assert.ok(end.kind === "ended" && end.why.join("\n").includes(one.failsWith), JSON.stringify(end));
        assert.deepEqual(told, []);
      });

    await context.test("leaves nothing behind in the workers", async () => {
      await Promise.race([Promise.all(harnesses.map((harness) => harness.ended)), pause(10_000, undefined, { ref: false })]);
      for (const harness of harnesses) {
        const { state, kept } = harness.health();
        const { stages: _, ...others } = kept;
        assert.deepEqual([state, Object.entries(others).filter(([, number]) => number > 0)], ["ended", []]);
      }
    });
  });
});
