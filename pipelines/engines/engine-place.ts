// On which engine does a crawl run, and where is that reached? In this process, or as a job that a job service is given.
import type { ParseArgsOptionsConfig } from "node:util";
import { UsageError } from "../usage-error.ts";

export const portableEngines = ["prism", "flink"] as const;

/** A job service, and how the workers of the job come to be. */
export interface EnginePlace {
  engine: (typeof portableEngines)[number];
  /** host:port of the job service. */
  endpoint: string;
  jobName: string;
  /** A program that runs pipelines/container on the engine's machines. Undefined: workers run in the launching process. */
  workerCommand?: string;
}

export const engineFlags = {
  engine: { type: "string" },
  endpoint: { type: "string" },
  "job-name": { type: "string" },
  "worker-command": { type: "string" },
} as const satisfies ParseArgsOptionsConfig;

type EngineValues = { [K in keyof typeof engineFlags]?: string | undefined };

/** Undefined where the engine is the embedded one. `crawl`: the name of the crawl, after which the job is called. Throws UsageError. */
export function enginePlace(values: EngineValues, crawl: string | undefined): EnginePlace | undefined {
  const { engine = "embedded", endpoint, "job-name": jobName = `crawl-${crawl}`, "worker-command": workerCommand } = values;
  const known = portableEngines.find((each) => each === engine);
  if (known === undefined && engine !== "embedded")
    throw new UsageError(`--engine ${JSON.stringify(engine)} is none of embedded, ${portableEngines.join(", ")}`);
  const more = (["endpoint", "job-name", "worker-command"] as const).find((flag) => values[flag] !== undefined);
  if (known === undefined) {
    if (more !== undefined) throw new UsageError(`--${more} is for --engine ${portableEngines.join(" or ")}`);
    return undefined;
  }
  if (crawl === undefined) throw new UsageError(`--engine ${known} needs --stores cloud: its workers share no folder`);
  if (!/^[^\s/:]+:\d{1,5}$/.test(endpoint ?? ""))
    throw new UsageError(
      `--engine ${known} needs --endpoint HOST:PORT, its job service, not ${JSON.stringify(endpoint ?? "")}`,
    );
  if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(jobName))
    throw new UsageError(
      `--job-name ${JSON.stringify(jobName)}: small letters, digits and hyphens, a letter first, 63 at most`,
    );
  return { engine: known, endpoint: endpoint!, jobName, ...(workerCommand === undefined ? {} : { workerCommand }) };
}
