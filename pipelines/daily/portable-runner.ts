// How does a phase of the daily pipeline run on Prism or Flink? As a job of its own that ends, with its workers in this process, over the same stores.
import type { AnyCombineDefinition } from "../../beam/combine.ts";
import { startHarness } from "../../beam/harness/start-harness.ts";
import type { AnyDefinition } from "../../beam/pardo.ts";
import { withEnvironment } from "../../beam/portable/environment.ts";
import type { JobEnd } from "../../beam/portable/follow.ts";
import { flinkOptions } from "../../beam/portable/options.ts";
import { type PortableJob, submit } from "../../beam/portable/submit.ts";
import { startWorkerPool } from "../../beam/portable/worker-pool.ts";
import { dofnRegistry } from "../../beam/registry.ts";
import type { DailyServices } from "../../transforms/daily/services.ts";
import { dailyDefinitions, dailyPipeline } from "../daily.ts";
import { type ProgressOptions, startProgress } from "../progress-line.ts";
import type { DailyRunner } from "./embedded-runner.ts";
import type { DailyPhase } from "./phase.ts";

export interface JobPlace {
  engine: "prism" | "flink";
  /** host:port of its job service. */
  endpoint: string;
}

export interface PortableRunnerOptions {
  place: JobPlace;
  services: DailyServices;
  stream: ProgressOptions["stream"];
}

/** Rejects where the worker pool cannot listen. Phases reject with RunnerError. */
export async function portableRunner({ place, services, stream }: PortableRunnerOptions): Promise<DailyRunner> {
  const { clock, log, metrics } = services;
  const registry = dofnRegistry<AnyDefinition | AnyCombineDefinition>(dailyDefinitions);
  const pool = await startWorkerPool({
    startWorker: (given) => startHarness({ ...given, registry, services, clock, log, metrics }),
    clock,
    log,
  });
  let job: PortableJob | undefined;
  let stopped = false;
  return {
    async run(phase, config) {
      if (stopped) return "stopped";
      const proto = withEnvironment(dailyPipeline(phase, config), { kind: "external", endpoint: pool.endpoint });
      const options = place.engine === "flink" ? flinkOptions() : {};
      const jobName = `daily-${config.day}-${phase.name}`;
      job = await submit({ endpoint: place.endpoint, proto, jobName, options, clock, log });
      const { id, ended } = job;
      const endProgress = startProgress({ clock, stream, line: () => `${phase.doing}: job ${id} runs at ${place.endpoint}` });
      const end = await ended;
      endProgress();
      job.leave();
      return stopped ? "stopped" : endedWell(phase, end);
    },
    stop() {
      stopped = true;
      job?.cancel().catch((error) => log("error", "the job could not be cancelled", { error: String(error) }));
    },
    close: () => pool.stop(),
  };
}

function endedWell({ name }: DailyPhase, end: JobEnd): "done" {
  if (end.kind === "lost") throw end.error;
  if (end.state !== "done") throw new Error(`the job of the phase ${name} has ended: ${end.state}: ${end.why.join("; ")}`);
  return "done";
}
