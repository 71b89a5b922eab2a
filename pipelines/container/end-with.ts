// When does a worker end? With its harness, or when a store is broken; what it opened is closed in each case.
import type { Harness } from "../../beam/harness/start-harness.ts";
import type { RunningWorker } from "../../beam/portable/worker-arguments.ts";

/** `broken` rejects when a store is, with its error, which is the worker's then. */
export function endWith(harness: Harness, broken: Promise<never>, close: () => Promise<void>): RunningWorker {
  const ended = Promise.race([harness.ended, broken]).finally(async () => {
    await harness.stop();
    await close();
  });
  return { ended, stop: () => harness.stop() };
}
