import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { runEmbedded } from "../../../beam/embedded/run-embedded.ts";
import { buildPipeline } from "../../../beam/pipeline.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import { systemClock } from "../../../io/clock.ts";
import { seeded } from "../../beam/lib.ts";
import { cases } from "./cases.ts";
import { telling, untilTold } from "./telling.ts";

suite("on the embedded engine", { concurrency: true }, () => {
  for (const one of cases)
    test(one.name, async () => {
      const { told, pipeline } = telling(one);
      const job = runEmbedded({
        proto: buildPipeline(pipeline.build),
        ...{ registry: dofnRegistry(pipeline.definitions), services: undefined },
        ...{ clock: systemClock(), random: seeded(1), log: () => undefined, checkCodecs: true },
        metrics: { count: () => undefined, gauge: () => undefined, observe: () => undefined },
      });
      let end: unknown;
      void job.done.then((how) => {
        end = how;
      });
      await untilTold(one, told, () => end);
      await job.stop();
      assert.deepEqual(await job.done, { state: "stopped" });
    });
});
