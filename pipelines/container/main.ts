// The entry of a worker: what Dataflow starts in its container, Flink and Prism as a process (Beam's container contract).
import { openWorker } from "./open-worker.ts";
import { runContainer } from "./run-container.ts";

process.exitCode = await runContainer(process.argv.slice(2), openWorker);
