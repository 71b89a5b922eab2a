// How is the conformance set run on a runner? One runner and one pool of workers in this process for all cases, a job for each.
import type { TestContext } from "node:test";
import { type Harness, startHarness } from "../../../beam/harness/start-harness.ts";
import { buildPipeline } from "../../../beam/pipeline.ts";
import { withEnvironment } from "../../../beam/portable/environment.ts";
import type { JobEnd } from "../../../beam/portable/follow.ts";
import type { PipelineOptions } from "../../../beam/portable/options.ts";
import { type PortableJob, submit } from "../../../beam/portable/submit.ts";
import type { StartWorker } from "../../../beam/portable/worker-arguments.ts";
import { startWorkerPool } from "../../../beam/portable/worker-pool.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import { systemClock } from "../../../io/clock.ts";
import type { Case } from "./case.ts";
import { cases } from "./cases.ts";
import { telling } from "./telling.ts";

export interface RunCase {
  job: PortableJob;
  told: readonly string[];
  /** Undefined while it runs. */
  ended: () => JobEnd | undefined;
}

export interface Conformance {
  run(one: Case, number: number): Promise<RunCase>;
  /** Of all workers that were ever started. */
  harnesses: readonly Harness[];
}

/** Its workers end with the test. */
export async function startConformance(
  context: TestContext,
  { endpoint, options = {} }: { endpoint: string; options?: PipelineOptions },
): Promise<Conformance> {
  const clock = systemClock();
  const tellings = new Map(cases.map((one) => [one, telling(one)]));
  const harnesses: Harness[] = [];
  const definitions = [...tellings.values()].flatMap(({ pipeline }) => pipeline.definitions);
  const registry = dofnRegistry(definitions);
  const startWorker: StartWorker = ({ id, controlEndpoint }) => {
    const harness = startHarness({
      ...{ id, controlEndpoint, registry, services: undefined, clock, log: quiet },
      metrics: { count: quiet, gauge: quiet, observe: quiet },
    });
    harnesses.push(harness);
    return harness;
  };
  const pool = await startWorkerPool({ startWorker, clock, log: quiet });
  context.after(() => pool.stop());
  return {
    harnesses,
    async run(one, number) {
      const { told, pipeline } = tellings.get(one)!;
      const environment = { kind: "external", endpoint: pool.endpoint } as const;
      const proto = withEnvironment(buildPipeline(pipeline.build), environment);
      const job = await submit({ endpoint, jobName: `conformance-${number}`, options, clock, log: quiet, proto });
      context.after(() => job.leave());
      let end: JobEnd | undefined;
      void job.ended.then((how) => {
        end = how;
      });
      return { job, told, ended: () => end };
    },
  };
}

function quiet(): void {}
