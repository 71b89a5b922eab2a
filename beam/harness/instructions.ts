// What does the worker answer to each instruction of the runner? Bundles side by side, and short answers about them (beam_fn_api.proto, BeamFnControl).
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import {
  fnApi,
  type InstructionRequest,
  type InstructionResponse,
  type MonitoringInfo,
  type ProcessBundleRequest,
  type ProcessBundleResponse,
} from "../fn-sdk.ts";
import type { Bundle } from "./bundle.ts";
import type { Counters } from "./counters.ts";
import type { Finalizers } from "./finalizers.ts";
import { metadataOf, report } from "./monitoring.ts";
import { startBundle, type Worker } from "./run-bundle.ts";
import type { Stage, Stages } from "./stages.ts";

type Response = InstructionResponse["response"];

export interface InstructionsOptions {
  worker: Worker;
  stages: Stages;
  finalizers: Finalizers;
  counters: Counters | undefined;
  log: Log;
  metrics: Metrics;
}

export class Instructions {
  readonly #options: InstructionsOptions;
  readonly #running = new Map<string, { stage: Stage; bundle: Bundle }>();
  #done = 0;
  #failed = 0;
  /** Bundles from their request to their answer. */
  #asked = 0;
  #idle: PromiseWithResolvers<void> | undefined;
  #refusal: Error | undefined;

  constructor(options: InstructionsOptions) {
    this.#options = options;
  }

  get stats(): { running: number; done: number; failed: number } {
    return { running: this.#running.size, done: this.#done, failed: this.#failed };
  }

  /** Resolves with the answer; an error is one, too. Never rejects. */
  async answer(request: InstructionRequest): Promise<InstructionResponse> {
    const { instructionId } = request;
    try {
      return { instructionId, error: "", response: await this.#respond(request) };
    } catch (error) {
      return { instructionId, error: told(error), response: { oneofKind: undefined } };
    }
  }

  /** No further bundle begins. */
  refuse(why: Error): void {
    this.#refusal ??= why;
  }

  /** Nor do those in progress go on: they fail. */
  end(why: Error): void {
    this.refuse(why);
    for (const { bundle } of this.#running.values()) bundle.fail(why);
  }

  /** Those in progress that use this endpoint cannot go on. */
  lost(endpoint: string, error: Error | undefined): void {
    for (const { stage, bundle } of this.#running.values())
      if (uses(stage, endpoint)) bundle.fail(new Error(`the plane to ${endpoint} was lost`, { cause: error }));
  }

  /** Undefined where no bundle is in progress, else a promise of that. */
  idle(): Promise<void> | undefined {
    if (this.#asked === 0) return undefined;
    this.#idle ??= Promise.withResolvers();
    return this.#idle.promise;
  }

  async #respond({ instructionId, request }: InstructionRequest): Promise<Response> {
    const { stages, finalizers } = this.#options;
    switch (request.oneofKind) {
      case "processBundle":
        return { oneofKind: "processBundle", processBundle: await this.#process(instructionId, request.processBundle) };
      case "processBundleProgress": {
        const found = this.#running.get(request.processBundleProgress.instructionId);
        // One that has just ended tells all in its own answer.
        const progress = found === undefined ? nothing() : report(found.stage, found.bundle);
        return { oneofKind: "processBundleProgress", processBundleProgress: progress };
      }
      case "processBundleSplit": {
        // Nothing is split; a source that waits for arrivals checkpoints itself at once instead.
        this.#running.get(request.processBundleSplit.instructionId)?.bundle.hurry();
        const none = { primaryRoots: [], residualRoots: [], channelSplits: [] };
        return { oneofKind: "processBundleSplit", processBundleSplit: none };
      }
      case "finalizeBundle":
        await finalizers.finalize(request.finalizeBundle.instructionId);
        return { oneofKind: "finalizeBundle", finalizeBundle: {} };
      case "monitoringInfos": {
        const monitoringInfo = named(stages, request.monitoringInfos.monitoringInfoId);
        return { oneofKind: "monitoringInfos", monitoringInfos: { monitoringInfo } };
      }
      case "harnessMonitoringInfos":
        return { oneofKind: "harnessMonitoringInfos", harnessMonitoringInfos: { monitoringData: {} } };
      case "register":
        for (const descriptor of request.register.processBundleDescriptor) stages.register(descriptor);
        return { oneofKind: "register", register: {} };
      default:
        throw new Error("an instruction of a kind that the harness does not know");
    }
  }

  async #process(id: string, request: ProcessBundleRequest): Promise<ProcessBundleResponse> {
    const { stages, finalizers, counters, log, metrics } = this.#options;
    this.#asked++;
    try {
      const stage = await stages.stage(request.processBundleDescriptorId);
      const bundle = await this.#carryOut(id, stage, request);
      this.#done++;
      metrics.count("harness_bundles_total");
      const requiresFinalization = bundle.afterCommits.length > 0;
      if (requiresFinalization) finalizers.keep(id, bundle.afterCommits);
      const { monitoringInfos, monitoringData } = report(stage, bundle, counters?.take());
      return { monitoringInfos, monitoringData, residualRoots: bundle.residuals, requiresFinalization };
    } catch (error) {
      this.#failed++;
      metrics.count("harness_bundle_failures_total");
      log("warn", "a bundle failed", { instruction: id, stage: request.processBundleDescriptorId, error });
      throw error;
    } finally {
      this.#asked--;
      if (this.#asked === 0) {
        this.#idle?.resolve();
        this.#idle = undefined;
      }
    }
  }

  async #carryOut(id: string, stage: Stage, request: ProcessBundleRequest): Promise<Bundle> {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#running.has(id)) throw new Error(`the instruction ${id} is being carried out`);
    const { bundle, done } = startBundle(this.#options.worker, stage, id, request);
    this.#running.set(id, { stage, bundle });
    try {
      return await done;
    } finally {
      this.#running.delete(id);
    }
  }
}

function named(stages: Stages, shortIds: readonly string[]): Record<string, MonitoringInfo> {
  const known: Record<string, MonitoringInfo> = {};
  for (const id of shortIds) {
    const info = metadataOf(id, (name) => stages.named(name));
    if (info !== undefined) known[id] = info;
  }
  return known;
}

const nothing = () => fnApi.ProcessBundleProgressResponse.create();

function uses({ plan }: Stage, endpoint: string): boolean {
  const { stateEndpoint, timerEndpoint, sources, sinks } = plan;
  return [stateEndpoint, timerEndpoint, ...[...sources, ...sinks].map((port) => port.endpoint)].includes(endpoint);
}

/** What failed, with its causes: the runner's log is where people look. */
function told(error: unknown): string {
  const lines: string[] = [];
  for (let cause: unknown = error; cause !== undefined && lines.length < CAUSES_MAX; cause = (cause as Error).cause) {
    lines.push(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
    if (!(cause instanceof Error)) break;
  }
  return lines.join("\ncaused by ") || "it failed and did not say why";
}

const CAUSES_MAX = 5;
