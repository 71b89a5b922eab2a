// How do workers of a runner run in a process of ours? The runner asks this pool for each (beam_fn_api.proto, BeamFnExternalWorkerPool).
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import { provisioned } from "./provision.ts";
import { beamFnExternalWorkerPoolDefinition, grpc, type StartWorkerRequest, type StopWorkerRequest } from "./sdk.ts";
import type { RunningWorker, StartWorker } from "./worker-arguments.ts";

export interface WorkerPoolOptions {
  startWorker: StartWorker;
  /** Default 127.0.0.1: whoever reaches it can start workers. */
  host?: string;
  /** Default: any that is free. */
  port?: number;
  clock: Clock;
  log: Log;
}

export interface WorkerPool {
  /** host:port, as an external environment names it. */
  readonly endpoint: string;
  /** Ids of the workers that run. */
  workers(): string[];
  /** Takes no more requests, stops all workers and waits for that. */
  stop(): Promise<void>;
}

interface UnaryCall<T> {
  request: T;
}
type Answer = (error: null, response: { error: string }) => void;

/** Rejects where the address cannot be listened on. */
export async function startWorkerPool(options: WorkerPoolOptions): Promise<WorkerPool> {
  const { host = "127.0.0.1", port = 0, log } = options;
  const running = new Map<string, RunningWorker>();
  const inTurn = turns();
  let closed = false;

  const start = async (request: StartWorkerRequest): Promise<void> => {
    if (closed) throw new Error("the worker pool ends");
    // A runner that starts an id anew has lost the old one.
    await stopWorker(running, request.workerId);
    const worker = await startOne(request, options);
    running.set(request.workerId, worker);
    log("info", "a worker is started", { worker: request.workerId });
    watch(worker, request.workerId);
  };
  const watch = (worker: RunningWorker, id: string): void => {
    const forget = (): boolean => running.get(id) === worker && running.delete(id);
    worker.ended.then(
      () => forget() && log("info", "a worker has ended", { worker: id }),
      (error) => forget() && log("error", "a worker has failed", { worker: id, error: String(error) }),
    );
  };

  const server = new grpc.Server();
  server.addService(beamFnExternalWorkerPoolDefinition, {
    startWorker: ({ request }: UnaryCall<StartWorkerRequest>, answer: Answer) =>
      inTurn(request.workerId, () => start(request)).then(...answered(answer)),
    stopWorker: ({ request }: UnaryCall<StopWorkerRequest>, answer: Answer) =>
      inTurn(request.workerId, () => stopWorker(running, request.workerId)).then(...answered(answer)),
  });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`${host}:${port}`, grpc.ServerCredentials.createInsecure(), (error, taken) =>
      error === null ? resolve(taken) : reject(error),
    );
  });
  return {
    endpoint: `${host}:${bound}`,
    workers: () => [...running.keys()],
    async stop() {
      closed = true;
      server.forceShutdown();
      await inTurn.all();
      await Promise.all([...running.keys()].map((id) => stopWorker(running, id)));
    },
  };
}

async function startOne(request: StartWorkerRequest, { startWorker, clock }: WorkerPoolOptions): Promise<RunningWorker> {
  const { workerId: id, controlEndpoint, loggingEndpoint, artifactEndpoint, provisionEndpoint } = request;
  const endpoints = {
    controlEndpoint: controlEndpoint?.url,
    loggingEndpoint: loggingEndpoint?.url,
    artifactEndpoint: artifactEndpoint?.url,
    provisionEndpoint: provisionEndpoint?.url,
  };
  const told = Object.fromEntries(Object.entries(endpoints).filter(([, url]) => url !== undefined && url !== ""));
  return startWorker(await provisioned({ id, ...told }, clock));
}

async function stopWorker(running: Map<string, RunningWorker>, id: string): Promise<void> {
  const worker = running.get(id);
  running.delete(id);
  await worker?.stop();
}

/** One after another for an id; none is kept when it has ended. */
function turns() {
  const last = new Map<string, Promise<void>>();
  const inTurn = (id: string, run: () => Promise<void>): Promise<void> => {
    const turn = (last.get(id) ?? Promise.resolve()).then(run);
    const settled = turn
      .catch(() => {})
      .then(() => {
        if (last.get(id) === settled) last.delete(id);
      });
    last.set(id, settled);
    return turn;
  };
  inTurn.all = () => Promise.all(last.values());
  return inTurn;
}

/** A failure is an answer, too. */
function answered(answer: Answer): [() => void, (error: unknown) => void] {
  return [
    () => answer(null, { error: "" }),
    (error) => answer(null, { error: error instanceof Error ? error.message : String(error) }),
  ];
}
