// What is the program around a worker that a runner starts, in a container or as a process? Its log, its signals and its exit code.
import { runWorker } from "../../beam/portable/container.ts";
import type { RunningWorker, WorkerArguments } from "../../beam/portable/worker-arguments.ts";
import { systemClock } from "../../io/clock.ts";
import { jsonLog } from "../../io/log.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import { stopOnSignals } from "../commands/stop-signals.ts";
import { exitCodes } from "../exit-codes.ts";

export interface ContainerPorts {
  clock: Clock;
  /** To standard error, which runners keep: one JSON object a line. */
  log: Log;
}

/** Makes the ports of this worker and starts its harness; rejects where it cannot. What it opened ends with the worker. */
export type OpenWorker = (given: WorkerArguments, ports: ContainerPorts) => Promise<RunningWorker>;

/** The exit code of the program. The first SIGTERM or SIGINT ends it cleanly, a second at once. Never rejects. */
export async function runContainer(given: readonly string[], openWorker: OpenWorker): Promise<number> {
  const clock = systemClock();
  const log = jsonLog((line) => process.stderr.write(`${line}\n`), "info", clock);
  try {
    await runWorker({
      arguments: given,
      startWorker: (told) => openWorker(told, { clock, log }),
      onEnd: (stop) => stopOnSignals({ now: () => clock.now(), stop }).end,
      clock,
      log,
    });
    return exitCodes.done;
  } catch (error) {
    log("error", "the worker failed", { error });
    return exitCodes.fault;
  }
}
