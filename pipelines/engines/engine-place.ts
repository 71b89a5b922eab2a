// On which engine does a crawl run, and where is that reached? In this process, or as a job that a job service is given.
import type { ParseArgsOptionsConfig } from "node:util";
import { UsageError } from "../usage-error.ts";
import { type DataflowPlace, dataflowFlags, dataflowPlace } from "./dataflow-place.ts";

const portableEngines = ["prism", "flink", "dataflow"] as const;

/** A job service, and how the workers of the job come to be. */
export type EnginePlace = JobPlace & (WorkersPlace | { engine: "dataflow"; dataflow: DataflowPlace });

interface JobPlace {
  /** host:port of the job service. */
  endpoint: string;
  jobName: string;
}

interface WorkersPlace {
  engine: "prism" | "flink";
  /** A program that runs pipelines/container on the engine's machines. Undefined: workers run in the launching process. */
  workerCommand?: string;
}

const jobFlags = {
  endpoint: { type: "string" },
  "job-name": { type: "string" },
  "worker-command": { type: "string" },
} as const satisfies ParseArgsOptionsConfig;

export const engineFlags = {
  engine: { type: "string" },
  ...jobFlags,
  ...dataflowFlags,
} as const satisfies ParseArgsOptionsConfig;

type Flag = keyof typeof engineFlags;
type EngineValues = { [K in Flag]?: (K extends "update" ? boolean : string) | undefined };

const enginesOf: Partial<Record<Flag, readonly (typeof portableEngines)[number][]>> = {
  endpoint: portableEngines,
  "job-name": portableEngines,
  "worker-command": ["prism", "flink"],
  ...Object.fromEntries(Object.keys(dataflowFlags).map((flag) => [flag, ["dataflow"]])),
};

/** Undefined where the engine is the embedded one. `crawl`: the name of the crawl, after which the job is called. Throws UsageError. */
export function enginePlace(values: EngineValues, crawl: string | undefined): EnginePlace | undefined {
  const {
    engine: named = "embedded",
    endpoint,
    "job-name": jobName = `crawl-${crawl}`,
    "worker-command": workerCommand,
  } = values;
  const engine = portableEngines.find((each) => each === named);
  if (engine === undefined && named !== "embedded")
    throw new UsageError(`--engine ${JSON.stringify(named)} is none of embedded, ${portableEngines.join(", ")}`);
  for (const [flag, engines] of Object.entries(enginesOf))
    if (values[flag as Flag] !== undefined && (engine === undefined || !engines.includes(engine)))
      throw new UsageError(`--${flag} is for --engine ${engines.join(" or ")}`);
  if (engine === undefined) return undefined;
  if (crawl === undefined) throw new UsageError(`--engine ${engine} needs --stores cloud: its workers share no folder`);
  if (!/^[^\s/:]+:\d{1,5}$/.test(endpoint ?? ""))
    throw new UsageError(
      `--engine ${engine} needs --endpoint HOST:PORT, its job service, not ${JSON.stringify(endpoint ?? "")}`,
    );
  if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(jobName))
    throw new UsageError(
      `--job-name ${JSON.stringify(jobName)}: small letters, digits and hyphens, a letter first, 63 at most`,
    );
  const job = { endpoint: endpoint!, jobName };
  if (engine === "dataflow") return { ...job, engine, dataflow: dataflowPlace(values) };
  return { ...job, engine, ...(workerCommand === undefined ? {} : { workerCommand }) };
}
