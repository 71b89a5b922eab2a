// How does a bounded pipeline run inside this process? Stage by stage: all that one gives is collected, in memory and beyond it, before the next begins.
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Spill } from "../../ports/spill.ts";
import { limits } from "../../schemas/limits.ts";
import type { GroupedDoFn, Outputs } from "../dofn.ts";
import type { Line } from "../embedded/bundle.ts";
import { type AnyDoFn, Instances } from "../embedded/instances.ts";
import { readGraph, type StageGraph, type Step } from "../embedded/read-graph.ts";
import type { DofnRegistry } from "../registry.ts";
import type { PipelineProto } from "../sdk.ts";
import { runStage } from "./bundles.ts";
import { Collected, Store } from "./collect.ts";
import { ofGroups } from "./grouped-dofn.ts";
import { type BatchEnd, type Ending, startEnding } from "./job.ts";
import type { BatchRuntime, BatchStage, StageCounts } from "./stage.ts";

export interface BatchOptions<Services> {
  /** Of buildBatch. */
  proto: PipelineProto;
  registry: DofnRegistry<Services>;
  /** What the DoFns are made with. */
  services: Services;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** For what does not fit into memory; all in it is removed at the end, however the job ends. */
  spill: Spill;
  /** Of elements that wait for their stage, and of those that are read, together; MEMORY_BYTES. */
  memoryBytes?: number;
  /** In a bundle, at most; BUNDLE_ELEMENTS. */
  bundleElements?: number;
  /** Before the job fails; limits.bundleTries. */
  bundleTries?: number;
}

export interface StageProgress extends StageCounts {
  label: string;
  /** Of what came in, keys and what is noted of them included. */
  bytes: number;
  /** Of those, what did not fit into memory. */
  spilledBytes: number;
}

export interface BatchJob {
  /** Resolves once every DoFn is torn down and what was spilled is removed. Never rejects. */
  readonly done: Promise<BatchEnd>;
  /** No bundle begins any more, and one that is under way fails with what it emits or reads next; resolves with `done`. */
  stop(): Promise<void>;
  /** In the order in which the stages run. */
  progress(): StageProgress[];
}

const MIB = 1024 * 1024;
const MEMORY_BYTES = 64 * MIB; // as a day of a million URLs needs at most a few times; a larger one is a matter of disk alone
const BUNDLE_ELEMENTS = 4096; // what a failure repeats, and what is combined in part before it is grouped
const BUNDLE_BYTES = 4 * MIB; // held for another try

/** Starts at once. Throws where the pipeline holds what this engine cannot do, or a DoFn that the registry does not know. */
export function runBatch<Services>(options: BatchOptions<Services>): BatchJob {
  const { clock, log, metrics, spill } = options;
  // One half for what waits, one for what is read.
  const store = new Store(spill, (options.memoryBytes ?? MEMORY_BYTES) / 2);
  const lines = readGraph(options.proto, options.registry).map((graph) => readLine(graph, options));
  const stages = lines.map(({ line }) => newStage(line, store));
  const ending = startEnding(clock, log);
  const bundleTries = options.bundleTries ?? limits.bundleTries;
  const done = run({ clock, log, metrics, ending, bundleTries, stages }, lines, options);
  return {
    done,
    async stop() {
      ending.stop();
      await done;
    },
    progress: () => stages.map(progressOf),
  };
}

interface PooledLine {
  line: Line;
  /** One a step. */
  pools: Instances<AnyDoFn>[];
}

function readLine<Services>(graph: StageGraph, { services }: BatchOptions<Services>): PooledLine {
  if (graph.kind === "source" || graph.kind === "keyed")
    throw new Error(`${graph.name}: a bounded pipeline has no sources, state or timers`);
  const make = ({ definition, config }: Step): AnyDoFn => {
    const made: unknown = definition.make(config, services);
    return definition.form === "grouped" ? ofGroups(made as GroupedDoFn<unknown, Outputs>) : (made as AnyDoFn);
  };
  const pools = graph.steps.map((step) => new Instances(() => make(step)));
  return { line: { graph, pools, checkCodecs: false }, pools };
}

function newStage(line: Line, store: Store): BatchStage {
  const { kind } = line.graph;
  return {
    line,
    collected: kind === "start" ? undefined : new Collected(store, kind === "grouped"),
    progress: { state: "waiting", elementsIn: 0, elementsOut: 0 },
  };
}

/** Never rejects. */
async function run<Services>(
  runtime: BatchRuntime,
  lines: readonly PooledLine[],
  options: BatchOptions<Services>,
): Promise<BatchEnd> {
  const { ending, stages, log } = runtime;
  const { spill, bundleElements = BUNDLE_ELEMENTS } = options;
  await Promise.resolve(); // whoever started it has its job in hand first
  // In the order of the graph, each stage stands behind those that feed it.
  for (const stage of stages) {
    if (ending.state() !== undefined) break;
    log("info", "a stage begins", { stage: stage.line.graph.name });
    await runStage(runtime, stage, { spill, elements: bundleElements, bytes: BUNDLE_BYTES });
  }
  const torn = lines.flatMap(({ line, pools }) => pools.map((pool) => pool.teardown(log, line.graph.name)));
  await Promise.all(torn);
  spill.removeAll();
  return endOf(ending);
}

function endOf(ending: Ending): BatchEnd {
  const error = ending.error();
  if (error !== undefined) return { state: "failed", error };
  return { state: ending.state() === undefined ? "done" : "stopped" };
}

function progressOf({ line, collected, progress }: BatchStage): StageProgress {
  const { bytes = 0, spilledBytes = 0 } = collected ?? {};
  return { label: line.graph.name, ...progress, bytes, spilledBytes };
}
