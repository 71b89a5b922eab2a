// What is a job service given of a phase of the daily pipeline? Its graph, given to the workers, and the options of the engine.
import { type Environment, withEnvironment } from "../../beam/portable/environment.ts";
import type { Submission } from "../../beam/portable/submit.ts";
import { workerOptions } from "../container/worker-settings.ts";
import { dailyPipeline } from "../daily.ts";
import { engineOptions } from "../engines/engine-job.ts";
import type { EnginePlace } from "../engines/engine-place.ts";
import type { CloudPlace } from "../stores/cloud-place.ts";
import type { DailyConfig, DailyPhase } from "./phase.ts";

interface DailyJob {
  place: EnginePlace;
  cloud: CloudPlace | undefined;
  phase: DailyPhase;
  config: DailyConfig;
  /** Where its workers run. */
  environment: Environment;
}

/** For submit(). A job is named after the day and the phase, so that they are told apart where jobs are listed. */
export function dailyJob(job: DailyJob): Required<Pick<Submission, "proto" | "options" | "jobName">> {
  const { place, cloud, phase, config, environment } = job;
  return {
    jobName: `${place.jobName}-${config.day}-${phase.name}`,
    proto: withEnvironment(dailyPipeline(phase, config), environment),
    options: {
      ...engineOptions(place, cloud),
      ...(cloud === undefined ? {} : workerOptions({ job: "daily", cloud })),
    },
  };
}
