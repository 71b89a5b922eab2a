// Is this worker well? What its health port answers: 200 while the harness takes instructions, 503 before that and while it ends.
import type { Harness, HarnessHealth } from "../../beam/harness/start-harness.ts";
import { type Health, openHealthPort } from "../../io/health-port.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Queue } from "../../ports/queue.ts";

/** What is looked at once the worker stands. */
export interface Vitals {
  harness: Pick<Harness, "health">;
  queues: Readonly<Record<string, Pick<Queue, "depth">>>;
}

/** The answer's JSON. */
export interface WorkerHealth {
  state: "starting" | HarnessHealth["state"];
  bundles: HarnessHealth["bundles"];
  /** Undefined before the first. A runner asks a worker for something within seconds, even where nothing is to be done. */
  lastInstructionAgeMs?: number;
  /** By queue: those it was given or has published, until it has acknowledged them (Queue.depth). */
  messagesHeld: Record<string, number>;
}

export interface HealthWatch {
  /** From now on the answers are these. */
  watch(vitals: Vitals): void;
  close(): Promise<void>;
}

interface HealthWatchOptions {
  /** As the environment says; undefined or empty: nobody is answered. */
  port: string | undefined;
  clock: Clock;
  log: Log;
}

export const HEALTH_PORT = "GLEANER_HEALTH_PORT";

/** Workers of one machine may be told one port: who comes second goes on without. Throws where it is no port. */
export async function openHealthWatch({ port, clock, log }: HealthWatchOptions): Promise<HealthWatch> {
  let vitals: Vitals | undefined;
  const watch = (given: Vitals): void => {
    vitals = given;
  };
  if (port === undefined || port === "") return { watch, close: async () => {} };
  if (!/^\d{1,5}$/.test(port) || Number(port) > PORT_MAX)
    throw new Error(`${HEALTH_PORT} ${JSON.stringify(port)} is no port from 0 to ${PORT_MAX}`);
  const health = () => workerHealth(vitals, clock.now());
  try {
    const opened = await openHealthPort({ port: Number(port), health });
    log("info", "health is answered", { port: opened.port });
    return { watch, close: () => opened.close() };
  } catch (error) {
    log("warn", "the health port cannot be opened, the worker goes on without", { port, error: String(error) });
    return { watch, close: async () => {} };
  }
}

const PORT_MAX = 65_535;
const NO_BUNDLES: HarnessHealth["bundles"] = { running: 0, done: 0, failed: 0 };

async function workerHealth(vitals: Vitals | undefined, now: number): Promise<Health> {
  if (vitals === undefined) return { well: false, told: { state: "starting", bundles: NO_BUNDLES, messagesHeld: {} } };
  const { state, bundles, lastInstructionAt } = vitals.harness.health();
  const depths = Object.entries(vitals.queues).map(async ([name, queue]) => [name, await queue.depth()] as const);
  const told: WorkerHealth = {
    state,
    bundles,
    ...(lastInstructionAt !== undefined && { lastInstructionAgeMs: now - lastInstructionAt }),
    messagesHeld: Object.fromEntries(await Promise.all(depths)),
  };
  return { well: state === "running", told };
}
