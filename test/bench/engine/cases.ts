// What is measured, and what comes of it? One case is one process with a worker pool in it, at a runner of its own.
import { flinkOptions, type PipelineOptions } from "../../../beam/portable/options.ts";

export const RUNNERS = ["prism", "flink"] as const;
export type Runner = (typeof RUNNERS)[number];

/** A network's way there and back, within a region. */
export const STATE_DELAY_MS = 2;

export interface Load {
  hosts: number;
  /** Between two leases of a host. */
  delayMs: number;
  /** Of leases. */
  seconds: number;
}

export interface EngineCase extends Load {
  runner: Runner;
  /** Of its job service. */
  endpoint: string;
  /** `timers`: hosts that do nothing but read, write and set their timer. `frontier`: HostFrontier, and a sink that reports back. */
  work: "timers" | "frontier";
  stateDelayMs: number;
}

export interface Figures {
  leases: number;
  /** From the first to the last. */
  perSecond: number;
  requestsPerLease: number;
  /** Of the worker's process, from the job's submission on. */
  cpuMicros: number;
  /** Behind the time that a lease was meant for; of 50 and of 99 in a hundred. */
  lateMs: { half: number; most: number };
}

/** Of npm run bench, for the process that measures it. */
export function caseArgs(given: EngineCase): string[] {
  return ["engine", "--case", JSON.stringify(given)];
}

/** The same for us and the prototype; checkpoints seldom, as they stop all work. */
export function runnerOptions(runner: Runner): PipelineOptions {
  return runner === "flink" ? flinkOptions({ checkpointMs: 5000, parallelism: 2 }) : {};
}
