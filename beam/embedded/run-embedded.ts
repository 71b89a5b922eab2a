// How does a pipeline run inside this process? The same proto that other runners take, stage by stage, under a given clock and chance.
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import { limits } from "../../schemas/limits.ts";
import type { Outputs, SourceDoFn } from "../dofn.ts";
import type { DofnRegistry } from "../registry.ts";
import type { PipelineProto } from "../sdk.ts";
import type { Line } from "./bundle.ts";
import { type Ending, startEnding } from "./ending.ts";
import { type AnyDoFn, Instances } from "./instances.ts";
import { keyedStage } from "./keyed-stage.ts";
import { readGraph, type StageGraph, type Step } from "./read-graph.ts";
import type { Runtime, StageStats } from "./runtime.ts";
import { sourceStage } from "./source-stage.ts";
import { spreadStage } from "./spread-stage.ts";
import type { Stage } from "./stage.ts";
import { startTurns } from "./turns.ts";
import { startWatermarks } from "./watermarks.ts";

export interface EmbeddedOptions<Services> {
  proto: PipelineProto;
  registry: DofnRegistry<Services>;
  /** What the DoFns of this worker are made with. */
  services: Services;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Metrics;
  /** Elements in a bundle, at most; limits.bundleElements. */
  bundleElements?: number;
  /** Elements that wait for a stage, and keys at work in it, at most; limits.stageElements. */
  stageElements?: number;
  /** Before the job fails; limits.bundleTries. */
  bundleTries?: number;
  /** For tests: whatever is kept or leaves a stage goes through its codec and must come back the same. */
  checkCodecs?: boolean;
}

export interface JobEnd {
  state: "stopped" | "failed";
  /** Of a failed job: names the stage, and has what the DoFn threw as its cause. */
  error?: unknown;
}

export interface EmbeddedJob {
  /** Resolves once every DoFn is torn down. Never rejects. */
  readonly done: Promise<JobEnd>;
  /**
   * Sources stop, what is queued is worked off, timers of processing time are dropped; event time comes to its end, so that the timers of
   * event time fire that stand then, and those that they set do not. Resolves with `done`.
   */
  stop(): Promise<void>;
  /** Nothing queued, no bundle or poll in progress, no afterCommit pending. Timers that wait do not count. */
  quiet(): boolean;
  /** When the earliest timer is due, Unix ms. */
  nextTimerAt(): number | undefined;
  /** By the label of the stage's first transform. */
  stats(): Record<string, StageStats>;
}

/** Starts at once. Throws where the pipeline holds what this engine cannot do, or a DoFn that the registry does not know. */
export function runEmbedded<Services>(options: EmbeddedOptions<Services>): EmbeddedJob {
  const lines = readGraph(options.proto, options.registry).map((graph) => readLine(graph, options));
  const stages: Stage[] = [];
  const ending = startEnding(options.clock, options.log, stages);
  const watermarks = startWatermarks(
    lines.map(({ line }) => line.graph),
    (stage, at) => stages[stage]!.rise?.(at),
  );
  const runtime = startRuntime(options, { ending, stages, watermarks });
  for (const { line, pools } of lines) stages.push(startStage(runtime, line, pools));
  for (const stage of stages) runtime.turns.wake(stage);

  const done = ending.through.then(() => tornDown(lines, options.log)).then(() => endOf(ending));
  return {
    done,
    async stop() {
      ending.stop();
      await done;
    },
    quiet: () => stages.every((stage) => stage.quiet()),
    nextTimerAt: () => earliest(stages.map((stage) => stage.nextTimerAt())),
    stats: () => Object.fromEntries(stages.map((stage) => [stage.line.graph.name, stage.stats()])),
  };
}

function startRuntime<Services>(
  options: EmbeddedOptions<Services>,
  parts: Pick<Runtime, "ending" | "stages" | "watermarks">,
): Runtime {
  const { clock, random, log, metrics } = options;
  return {
    ...{ clock, random, log, metrics, ...parts },
    turns: startTurns(clock, (cause) => parts.ending.fail(new Error("the embedded engine broke", { cause }))),
    bundleElements: options.bundleElements ?? limits.bundleElements,
    stageElements: options.stageElements ?? limits.stageElements,
    bundleTries: options.bundleTries ?? limits.bundleTries,
  };
}

interface PooledLine {
  line: Line;
  /** One a step. */
  pools: Instances<AnyDoFn>[];
}

function readLine<Services>(graph: StageGraph, options: EmbeddedOptions<Services>): PooledLine {
  const make = (step: Step) => step.definition.make(step.config, options.services) as unknown as AnyDoFn;
  const pools = graph.steps.map((step) => new Instances(() => make(step)));
  // A source is not of its bundles: it is polled before they begin.
  const ofBundle = pools.map((pool, index) => (graph.kind === "source" && index === 0 ? undefined : pool));
  return { line: { graph, pools: ofBundle, checkCodecs: options.checkCodecs ?? false }, pools };
}

function startStage(runtime: Runtime, line: Line, pools: Instances<AnyDoFn>[]): Stage {
  if (line.graph.kind === "keyed") return keyedStage(runtime, line);
  if (line.graph.kind === "spread") return spreadStage(runtime, line);
  if (line.graph.kind !== "source") throw new Error(`${line.graph.name}: bounded pipelines are run by runBatch`);
  return sourceStage(runtime, line, pools[0] as unknown as Instances<SourceDoFn<Outputs>>);
}

async function tornDown(lines: readonly PooledLine[], log: Log): Promise<void> {
  await Promise.all(lines.flatMap(({ line, pools }) => pools.map((pool) => pool.teardown(log, line.graph.name))));
}

function endOf(ending: Ending): JobEnd {
  const error = ending.error();
  return error === undefined ? { state: "stopped" } : { state: "failed", error };
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  return times.reduce((first, time) => (first === undefined || (time !== undefined && time < first) ? time : first), undefined);
}
