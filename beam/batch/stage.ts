// How is one stage of a bounded job carried out? Bundle after bundle of what was collected for it, some at a time, each tried again whole where it fails.
import { type Clock, sleep } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import { SpillError } from "../../ports/spill.ts";
import { encode } from "../../schemas/codec.ts";
import type { Keyed } from "../dofn.ts";
import { type AfterCommit, type Bundle, type Exit, type Line, tryBundle } from "../embedded/bundle.ts";
import type { Collected, Pending } from "./collect.ts";
import type { Ending } from "./job.ts";

/** Bundles of one stage at a time, each with instances of its own: enough that one that waits does not idle the stage. */
const BUNDLES_AT_ONCE = 4;
/** The wait before a bundle's second try; it doubles with each. */
const RETRY_MS = 500;

export interface BatchStage {
  readonly line: Line;
  /** Undefined where it begins by itself. */
  readonly collected: Collected | undefined;
  readonly progress: StageCounts;
}

export interface StageCounts {
  /** `waiting`: for the stages before it. */
  state: "waiting" | "running" | "done" | "stopped" | "failed";
  /** Those of committed bundles alone; a group's values count one each. */
  elementsIn: number;
  /** To other stages. */
  elementsOut: number;
}

export interface BatchRuntime {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly ending: Ending;
  readonly bundleTries: number;
  /** In the order of the graph, which is how bundles name them. */
  readonly stages: readonly BatchStage[];
}

/** What goes into a bundle; `feed` is called anew with each try. */
export interface Work {
  /** Known when the bundle is through. */
  elements: () => number;
  feed: (bundle: Bundle) => void | Promise<void>;
  /** Awaited before the next bundle is looked for. */
  alone: boolean;
}

/** Carries out all that `next` gives, until undefined. Never rejects: what fails ends the job. */
export async function workOff(runtime: BatchRuntime, stage: BatchStage, next: () => Work | undefined): Promise<void> {
  const { ending, clock } = runtime;
  const running = new Set<Promise<void>>();
  try {
    while (ending.state() === undefined) {
      const work = next();
      if (work === undefined) break;
      const done = carryOut(runtime, stage, work).finally(() => running.delete(done));
      running.add(done);
      if (work.alone) await done;
      else if (running.size >= BUNDLES_AT_ONCE) await Promise.race(running);
      await sleep(clock, 0); // a breath for the event loop
    }
  } catch (error) {
    failWith(runtime, stage, error);
  }
  await Promise.all(running);
}

/** Never rejects. */
async function carryOut(runtime: BatchRuntime, stage: BatchStage, work: Work): Promise<void> {
  const { ending, log, metrics, bundleTries } = runtime;
  const labels = { stage: stage.line.graph.name };
  for (let tries = 1; ending.state() === undefined; tries++) {
    const outgoing = new Outgoing(runtime, stage);
    try {
      const bundle = await tryBundle(stage.line, work.feed, outgoing);
      ending.mustGoOn();
      outgoing.commit();
      stage.progress.elementsIn += work.elements();
      metrics.count("engine_elements_total", work.elements(), labels);
      metrics.count("engine_bundles_total", 1, labels);
      await settle(runtime, stage, bundle.afterCommits);
      return;
    } catch (cause) {
      discard(runtime, stage, outgoing);
      if (ending.state() !== undefined) return;
      metrics.count("engine_bundle_failures_total", 1, labels);
      log("warn", "a bundle failed", { ...labels, tries, error: cause });
      if (cause instanceof SpillError) return failWith(runtime, stage, cause);
      if (tries >= bundleTries) return ending.fail(new Error(`${labels.stage}: a bundle failed ${tries} times`, { cause }));
      await ending.pause(RETRY_MS * 2 ** (tries - 1));
    }
  }
}

/** What a bundle gives to other stages, which have it when it is committed. */
class Outgoing implements Exit {
  readonly #runtime: BatchRuntime;
  readonly #stage: BatchStage;
  readonly #pending = new Map<number, Pending>();
  #elements = 0;

  constructor(runtime: BatchRuntime, stage: BatchStage) {
    this.#runtime = runtime;
    this.#stage = stage;
  }

  mustGoOn(): void {
    this.#runtime.ending.mustGoOn();
  }

  give(stage: number, value: unknown): void {
    const to = this.#runtime.stages[stage]!;
    let pending = this.#pending.get(stage);
    if (pending === undefined) {
      pending = to.collected!.begin();
      this.#pending.set(stage, pending);
    }
    const { kind, input } = to.line.graph;
    try {
      if (kind === "grouped") pending.put((value as Keyed<unknown>).key, encode(input!, (value as Keyed<unknown>).value));
      else pending.put("", encode(input!, value));
    } catch (error) {
      // Whoever emitted may not hand it on, and no other try would find more room.
      if (error instanceof SpillError) failWith(this.#runtime, this.#stage, error);
      throw error;
    }
    this.#elements++;
  }

  /** Throws SpillError. */
  commit(): void {
    for (const pending of this.#pending.values()) pending.commit();
    this.#stage.progress.elementsOut += this.#elements;
  }

  /** Throws SpillError. */
  discard(): void {
    for (const pending of this.#pending.values()) pending.discard();
  }
}

function discard(runtime: BatchRuntime, stage: BatchStage, outgoing: Outgoing): void {
  try {
    outgoing.discard();
  } catch (error) {
    failWith(runtime, stage, error);
  }
}

async function settle({ log }: BatchRuntime, { line }: BatchStage, callbacks: readonly AfterCommit[]): Promise<void> {
  // Side by side, so that acknowledgements can share a commit.
  const ends = await Promise.allSettled(callbacks.map(async (callback) => callback()));
  for (const end of ends)
    if (end.status === "rejected") log("error", "an afterCommit failed", { stage: line.graph.name, error: end.reason });
}

export function failWith({ ending }: BatchRuntime, { line }: BatchStage, cause: unknown): void {
  ending.fail(new Error(`${line.graph.name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause }));
}
