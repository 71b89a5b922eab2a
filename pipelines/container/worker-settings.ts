// What does a worker need to know before it can read the rest from the stores? It travels with the job, as one of its pipeline options.
import type { PipelineOptions } from "../../beam/portable/options.ts";
import type { CrawlOptions } from "../options.ts";
import type { CloudPlace } from "../stores/cloud-place.ts";

/** No secret is among them: workers have the rights of their machine's account. */
export type WorkerSettings = CrawlWorkerSettings | DailyWorkerSettings;

export type CrawlWorkerSettings = Pick<CrawlOptions, "fetchers" | "allow" | "connectTo" | "userAgent" | "contact"> & {
  job: "crawl";
  cloud: CloudPlace;
  /** The number of the job, which its later workers keep when the next one has begun. Undefined: that of the job begun last. */
  epoch?: number;
  /** Delays of the queues' sources are whole multiples of it. Undefined: a second, which every runner can keep. */
  delayStepMs?: number;
};

export interface DailyWorkerSettings {
  job: "daily";
  cloud: CloudPlace;
}

const OPTION = "gleanerWorker";

/** For submit(). */
export function workerOptions(settings: WorkerSettings): PipelineOptions {
  return { [OPTION]: JSON.stringify(settings.job === "daily" ? dailyParts(settings) : crawlParts(settings)) };
}

/** Of the options that a worker is told of. Throws where the job was submitted without them. */
export function readWorkerSettings(options: Readonly<Record<string, unknown>>): WorkerSettings {
  const json = options[OPTION];
  if (typeof json !== "string") throw new Error(`the job has no option '${OPTION}': it was not submitted by this program`);
  return JSON.parse(json) as WorkerSettings;
}

/** Callers have more in their objects than is for workers. */
function crawlParts(settings: CrawlWorkerSettings): CrawlWorkerSettings {
  const { job, cloud, epoch, fetchers, allow, connectTo, userAgent, contact, delayStepMs } = settings;
  return {
    ...{ job, cloud, fetchers, allow, connectTo, userAgent },
    ...(contact !== undefined && { contact }),
    ...(epoch !== undefined && { epoch }),
    ...(delayStepMs !== undefined && { delayStepMs }),
  };
}

function dailyParts({ job, cloud }: DailyWorkerSettings): DailyWorkerSettings {
  return { job, cloud };
}
