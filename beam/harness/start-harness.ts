// How does a worker of ours serve a runner? As an SDK harness: it asks for instructions at the control endpoint and answers them (beam_fn_api.proto).
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import { type BundleDescriptor, fnApi, fnCalls, type InstructionResponse } from "../fn-sdk.ts";
import type { DofnRegistry } from "../registry.ts";
import { atMost } from "./at-most.ts";
import type { Counters } from "./counters.ts";
import { Finalizers } from "./finalizers.ts";
import { unaryCall } from "./grpc-call.ts";
import { Instructions } from "./instructions.ts";
import { type LogPlane, openLogPlane, teed } from "./log-plane.ts";
import { openPlanes, type Planes } from "./planes.ts";
import { Stages } from "./stages.ts";
import { StateCache } from "./state-cache.ts";
import { openStream, workerMetadata } from "./stream.ts";

export interface HarnessOptions<Services> {
  /** As the runner has named the worker; every call carries it. */
  id: string;
  /** HOST:PORT, as all endpoints. */
  controlEndpoint: string;
  /** Where the harness's own lines go beside `log`. Whose DoFns are to be heard there too makes both a log with `teed`, and leaves this away. */
  loggingEndpoint?: string;
  registry: DofnRegistry<Services>;
  /** What the DoFns of this worker are made with. */
  services: Services;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Sent to the runner with the answers of bundles; give its metrics to `services`. */
  counters?: Counters;
  /** Delays that a source asks for are whole multiples of this: 1000, since Flink knows seconds alone; 1 will do elsewhere. */
  delayStepMs?: number;
  /** Of state kept from bundle to bundle, where the runner gives tokens. */
  stateCacheBytes?: number;
  /** Each answer about state is held back so long, as if the runner were further away: for measurements. */
  stateDelayMs?: number;
}

export interface HarnessHealth {
  state: "running" | "stopping" | "ended";
  /** Why the control call broke. */
  error?: string;
  /** Unix ms of the last instruction; undefined before the first. */
  lastInstructionAt: number | undefined;
  bundles: { running: number; done: number; failed: number };
  /** Of everything that is kept: none of these grows with time. */
  kept: {
    stages: number;
    instances: number;
    inboxes: number;
    inboundBytes: number;
    stateWaiting: number;
    cacheEntries: number;
    cacheBytes: number;
    finalizers: number;
    logLines: number;
  };
  stateRequests: number;
  logLinesDropped: number;
}

export interface Harness {
  /** Resolves once the runner has ended the worker, the call has broken or stop() is through, and every DoFn is torn down. Never rejects. */
  readonly ended: Promise<void>;
  /** No bundle begins any more; those in progress get STOP_MS to end, then fail. Resolves with `ended`. */
  stop(): Promise<void>;
  health(): HarnessHealth;
}

const STOP_MS = 5000;
/** What hangs in spite of its bundle's failure is left to itself. */
const END_MS = 10_000;
const DELAY_STEP_MS = 1000;

/** Throws where an endpoint is no HOST:PORT. */
export function startHarness<Services>(options: HarnessOptions<Services>): Harness {
  const { id, controlEndpoint, clock, metrics } = options;
  const logPlane = options.loggingEndpoint
    ? openLogPlane({ endpoint: options.loggingEndpoint, workerId: id, clock })
    : undefined;
  const log = logPlane === undefined ? options.log : teed(options.log, logPlane, "debug");
  const planes = openPlanes({ workerId: id, clock, onLost, stateDelayMs: options.stateDelayMs ?? 0 });
  const cache = new StateCache(options.stateCacheBytes);
  const finalizers = new Finalizers(log, metrics);
  const stages = new Stages({
    registry: options.registry,
    services: options.services,
    log,
    fetch: (stage) => fetchDescriptor(id, controlEndpoint, stage),
  });
  const worker = { planes, cache, clock, delayStepMs: options.delayStepMs ?? DELAY_STEP_MS };
  const work = new Instructions({ worker, stages, finalizers, counters: options.counters, log, metrics });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  let state: HarnessHealth["state"] = "running";
  let broken: Error | undefined;
  let lastInstructionAt: number | undefined;

  const control = openStream({
    ...{ endpoint: controlEndpoint, call: fnCalls.control, workerId: id, clock },
    encode: (response: InstructionResponse) => fnApi.InstructionResponse.toBinary(response),
    decode: (bytes) => fnApi.InstructionRequest.fromBinary(bytes),
    onMessage(request) {
      lastInstructionAt = clock.now();
      work
        .answer(request)
        .then(control.send)
        .catch((error) => log("error", "an answer could not be written", { error }));
    },
    onEnd(error) {
      broken = error;
      if (state === "running") log(error === undefined ? "info" : "error", "the runner has ended the worker", { error });
      void end();
    },
  });

  function onLost(endpoint: string, error: Error | undefined): void {
    if (state === "running") log("warn", "a plane to the runner was lost", { endpoint, error });
    work.lost(endpoint, error);
  }

  let ending: Promise<void> | undefined;
  function end(): Promise<void> {
    ending ??= endAll();
    return ending;
  }

  async function endAll(): Promise<void> {
    state = "stopping";
    work.end(new Error("the worker ends"));
    await atMost(clock, END_MS, work.idle());
    await Promise.all([control.close(), planes.close()]);
    await stages.close();
    finalizers.clear();
    cache.clear();
    await logPlane?.close();
    state = "ended";
    resolve();
  }

  return {
    ended,
    async stop() {
      if (state === "running") {
        state = "stopping";
        work.refuse(new Error("the worker stops"));
        await atMost(clock, STOP_MS, work.idle());
        await end();
      }
      await ended;
    },
    health: () => ({
      ...{ state, lastInstructionAt, bundles: work.stats },
      ...(broken !== undefined && { error: broken.message }),
      ...keptBy({ planes, cache, finalizers, stages, logPlane }),
    }),
  };
}

interface Keeping {
  planes: Planes;
  cache: StateCache;
  finalizers: Finalizers;
  stages: Stages;
  logPlane: LogPlane | undefined;
}

function keptBy({
  planes,
  cache,
  finalizers,
  stages,
  logPlane,
}: Keeping): Pick<HarnessHealth, "kept" | "stateRequests" | "logLinesDropped"> {
  const { inboxes, inboundBytes, stateWaiting, stateRequests } = planes.sizes();
  return {
    kept: {
      ...{ stages: stages.size, instances: stages.instances, inboxes, inboundBytes, stateWaiting },
      ...{ cacheEntries: cache.size, cacheBytes: cache.bytes, finalizers: finalizers.size },
      logLines: logPlane?.waiting ?? 0,
    },
    stateRequests,
    logLinesDropped: logPlane?.dropped ?? 0,
  };
}

/** Asks what a stage is made of. */
async function fetchDescriptor(workerId: string, endpoint: string, descriptorId: string): Promise<BundleDescriptor> {
  const call = { endpoint, path: fnCalls.descriptor, metadata: workerMetadata(workerId) };
  const request = fnApi.GetProcessBundleDescriptorRequest.toBinary({ processBundleDescriptorId: descriptorId });
  return fnApi.ProcessBundleDescriptor.fromBinary(await unaryCall(call, request));
}
