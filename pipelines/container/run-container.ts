// What is the program around a worker that a runner starts, in a container or as a process? Its log, its signals and its exit code.
import { runWorker } from "../../beam/portable/container.ts";
import type { RunningWorker, WorkerArguments } from "../../beam/portable/worker-arguments.ts";
import { systemClock } from "../../io/clock.ts";
import { jsonLog } from "../../io/log.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import { stopOnSignals } from "../commands/stop-signals.ts";
import { exitCodes } from "../exit-codes.ts";
import { HEALTH_PORT, type HealthWatch, openHealthWatch, type Vitals } from "./worker-health.ts";

export interface ContainerPorts {
  clock: Clock;
  /** To standard error, which runners keep: one JSON object a line. */
  log: Log;
  /** Given what the health port tells of; without it nobody asks. */
  watchHealth?: (vitals: Vitals) => void;
}

/** Makes the ports of this worker and starts its harness; rejects where it cannot. What it opened ends with the worker. */
export type OpenWorker = (given: WorkerArguments, ports: ContainerPorts) => Promise<RunningWorker>;

/**
 * The exit code of the program. The first SIGTERM or SIGINT ends it cleanly, a second at once. Where the environment names a
 * GLEANER_HEALTH_PORT, GET /healthz is answered there: runners start containers with no flags of ours. Never rejects.
 */
export async function runContainer(given: readonly string[], openWorker: OpenWorker): Promise<number> {
  const clock = systemClock();
  const log = jsonLog((line) => process.stderr.write(`${line}\n`), "info", clock);
  let health: HealthWatch | undefined;
  try {
    const opened = await openHealthWatch({ port: process.env[HEALTH_PORT], clock, log });
    health = opened;
    await runWorker({
      arguments: given,
      startWorker: (told) => openWorker(told, { clock, log, watchHealth: opened.watch }),
      onEnd: (stop) => stopOnSignals({ now: () => clock.now(), stop }).end,
      clock,
      log,
    });
    return exitCodes.done;
  } catch (error) {
    log("error", "the worker failed", { error });
    return exitCodes.fault;
  } finally {
    await health?.close();
  }
}
