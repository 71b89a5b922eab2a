// Where do the workers of a job come from? Containers and programs that the engine starts, or this process, which it asks for each.
import type { Environment } from "../../beam/portable/environment.ts";
import { startWorkerPool, type WorkerPoolOptions } from "../../beam/portable/worker-pool.ts";
import type { EnginePlace } from "./engine-place.ts";

export interface Workers {
  /** For withEnvironment(). */
  environment: Environment;
  /** Ends those of this process. */
  stop(): Promise<void>;
}

/** `inProcess`: how a worker of this process starts. Rejects where this process cannot listen. */
export async function openWorkers(
  place: EnginePlace,
  inProcess: Pick<WorkerPoolOptions, "startWorker" | "clock" | "log">,
): Promise<Workers> {
  const stop = async () => {};
  if (place.engine === "dataflow") return { environment: { kind: "docker", image: place.dataflow.image }, stop };
  if (place.workerCommand !== undefined) return { environment: { kind: "process", command: place.workerCommand }, stop };
  const pool = await startWorkerPool(inProcess);
  return { environment: { kind: "external", endpoint: pool.endpoint }, stop: () => pool.stop() };
}
