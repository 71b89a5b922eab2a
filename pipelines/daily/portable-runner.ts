// How does a phase of the daily pipeline run on Prism, Flink or Dataflow? As a job of its own that ends, over the same stores.
import { startHarness } from "../../beam/harness/start-harness.ts";
import type { JobEnd } from "../../beam/portable/follow.ts";
import { type PortableJob, submit } from "../../beam/portable/submit.ts";
import type { DailyServices } from "../../transforms/daily/services.ts";
import { dailyRegistry } from "../daily.ts";
import { type EnginePlace, withTemplate } from "../engines/engine-place.ts";
import { openWorkers } from "../engines/open-workers.ts";
import { type ProgressOptions, startProgress } from "../progress-line.ts";
import type { CloudPlace } from "../stores/cloud-place.ts";
import { dailyJob } from "./daily-job.ts";
import type { DailyRunner } from "./embedded-runner.ts";
import type { DailyConfig, DailyPhase } from "./phase.ts";

export interface PortableRunnerOptions {
  place: EnginePlace;
  services: DailyServices;
  /** Undefined: the stores are local, and so are the workers. */
  cloud: CloudPlace | undefined;
  stream: ProgressOptions["stream"];
}

export interface PortableRunner extends DailyRunner {
  /** Has the job of a phase written down, on Dataflow, and starts nothing. Rejects where that fails. */
  writeTemplate(phase: DailyPhase, config: DailyConfig, template: string): Promise<void>;
}

/** Rejects where this process cannot listen for workers. Phases reject with RunnerError. */
export async function portableRunner({ place, services, cloud, stream }: PortableRunnerOptions): Promise<PortableRunner> {
  const { clock, log, metrics } = services;
  const registry = dailyRegistry();
  const workers = await openWorkers(place, {
    startWorker: (given) => startHarness({ ...given, registry, services, clock, log, metrics }),
    clock,
    log,
  });
  const { environment } = workers;
  let job: PortableJob | undefined;
  let stopped = false;
  return {
    async run(phase, config) {
      if (stopped) return "stopped";
      job = await submit({ endpoint: place.endpoint, clock, log, ...dailyJob({ place, cloud, phase, config, environment }) });
      const { id, ended } = job;
      const endProgress = startProgress({ clock, stream, line: () => `${phase.doing}: job ${id} runs at ${place.endpoint}` });
      const end = await ended;
      endProgress();
      job.leave();
      return stopped ? "stopped" : endedWell(phase, end);
    },
    async writeTemplate(phase, config, template) {
      const written = { place: withTemplate(place, template), cloud, phase, config, environment };
      const submitted = await submit({ endpoint: place.endpoint, clock, log, ...dailyJob(written) });
      endedWell(phase, await submitted.ended);
      submitted.leave();
    },
    stop() {
      stopped = true;
      job?.cancel().catch((error) => log("error", "the job could not be cancelled", { error: String(error) }));
    },
    close: () => workers.stop(),
  };
}

function endedWell({ name }: DailyPhase, end: JobEnd): "done" {
  if (end.kind === "lost") throw end.error;
  if (end.state !== "done") throw new Error(`the job of the phase ${name} has ended: ${end.state}: ${end.why.join("; ")}`);
  return "done";
}
