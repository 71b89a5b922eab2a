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

export interface JobAsked {
  /** What its job is called where no flag says it. */
  name: string;
  /** Whether its stores are Google Cloud's, which any machine reaches. */
  inCloud: boolean;
  /** Workers in the launching process may share its stores, wherever those are. */
  sharesStores?: boolean;
}

/** The same, of a job that is only written down. Throws where the engine has no templates. */
export function withTemplate(place: EnginePlace, template: string): EnginePlace {
  if (place.engine !== "dataflow") throw new Error(`${place.engine} has no templates`);
  return { ...place, dataflow: { ...place.dataflow, template } };
}

/** Undefined where the engine is the embedded one. Throws UsageError. */
export function enginePlace(values: EngineValues, { name, inCloud, sharesStores = false }: JobAsked): EnginePlace | undefined {
  const { engine: named = "embedded", endpoint, "job-name": jobName = name, "worker-command": workerCommand } = values;
  const engine = portableEngines.find((each) => each === named);
  if (engine === undefined && named !== "embedded")
    throw new UsageError(`--engine ${JSON.stringify(named)} is none of embedded, ${portableEngines.join(", ")}`);
  for (const [flag, engines] of Object.entries(enginesOf))
    if (values[flag as Flag] !== undefined && (engine === undefined || !engines.includes(engine)))
      throw new UsageError(`--${flag} is for --engine ${engines.join(" or ")}`);
  if (engine === undefined) return undefined;
  const isShared = sharesStores && engine !== "dataflow" && workerCommand === undefined;
  if (!inCloud && !isShared) throw new UsageError(`--engine ${engine} needs --stores cloud: its workers share no folder`);
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
