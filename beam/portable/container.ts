// What does a worker's program do that a runner starts? It reads its arguments, asks for the rest, and works until it is told to end.
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import { provisioned } from "./provision.ts";
import { readArguments, type StartWorker } from "./worker-arguments.ts";

export interface ContainerOptions {
  /** Those of the program: --id, --control_endpoint, --logging_endpoint, --artifact_endpoint, --provision_endpoint. */
  arguments: readonly string[];
  startWorker: StartWorker;
  /** Calls `stop` when the machine wants the program to end; returns a function that ends the watch. */
  onEnd: (stop: () => void) => () => void;
  clock: Clock;
  log: Log;
}

/** Resolves when the worker has ended; rejects with the cause where it cannot be started, or failed. */
export async function runWorker({ arguments: given, startWorker, onEnd, clock, log }: ContainerOptions): Promise<void> {
  const { told, unknown } = readArguments(given);
  if (unknown.length > 0) log("warn", "arguments are not known and left aside", { unknown });
  const worker = await startWorker(await provisioned(told, clock));
  log("info", "the worker is started", { worker: told.id });
  const unwatch = onEnd(() => {
    log("info", "the worker is told to end", { worker: told.id });
    worker.stop().catch((error) => log("error", "the worker did not stop well", { error: String(error) }));
  });
  try {
    await worker.ended;
  } finally {
    unwatch();
  }
}
