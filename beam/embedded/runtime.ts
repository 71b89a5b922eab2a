// What do the stages of one job share? Its ports and bounds, how it ends, and how a bundle is carried to its end.
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import { type AfterCommit, type Bundle, type Line, tryBundle } from "./bundle.ts";
import type { Ending } from "./ending.ts";
import type { Stage } from "./stage.ts";
import type { Turns } from "./turns.ts";
import type { Watermarks } from "./watermarks.ts";

/** The wait before a bundle's second try; it doubles with each, and is drawn from half of it to all of it. */
const RETRY_MS = 500;
/** No wait of the engine is longer: the timers of Node end at 24.8 days. */
export const WAIT_MS_MAX = 24 * 60 * 60 * 1000;

export interface Runtime {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly turns: Turns;
  readonly bundleElements: number;
  readonly stageElements: number;
  readonly bundleTries: number;
  /** In the order of the graph, which is how outgoing elements name them. */
  readonly stages: readonly Stage[];
  readonly ending: Ending;
  /** Undefined where nobody asks for event time. */
  readonly watermarks: Watermarks | undefined;
}

export interface StageStats {
  elements: number;
  bundles: number;
  failures: number;
  /** Elements that wait, and the most that ever did. */
  queued: number;
  queuedMax: number;
  running: number;
  /** afterCommit callbacks that have not ended. */
  settling: number;
  /** Of a keyed stage. */
  keys?: number;
  timers?: number;
}

export interface Work {
  /** Elements and timers that go in. */
  elements: number;
  feed(bundle: Bundle): void | Promise<void>;
  /** Keeps what the bundle wrote; called once, before anything leaves. */
  commit?(): void;
}

/** The bundles of one stage: tried, committed, handed on, and settled. */
export class Bundles {
  readonly #runtime: Runtime;
  readonly #line: Line;
  readonly #labels: { stage: string };
  readonly stats: Pick<StageStats, "elements" | "bundles" | "failures" | "running" | "settling">;
  /** Called when a bundle or a callback has ended: there may be room for another. */
  readonly #ended: () => void;

  constructor(runtime: Runtime, line: Line, ended: () => void) {
    this.#runtime = runtime;
    this.#line = line;
    this.#labels = { stage: line.graph.name };
    this.stats = { elements: 0, bundles: 0, failures: 0, running: 0, settling: 0 };
    this.#ended = ended;
  }

  get idle(): boolean {
    return this.stats.running === 0 && this.stats.settling === 0;
  }

  /** Resolves when all is handed on, or the job has failed; gives the promise of the afterCommit callbacks. Never rejects. */
  async carryOut(work: Work): Promise<{ settled: Promise<void> | undefined }> {
    const { metrics, turns, ending, stages } = this.#runtime;
    this.stats.running++;
    turns.spend(work.elements);
    const bundle = await this.tryUntilDone(() => tryBundle(this.#line, work.feed));
    let settled: Promise<void> | undefined;
    if (bundle !== undefined) {
      work.commit?.();
      await handedOn(bundle, stages);
      this.stats.elements += work.elements;
      this.stats.bundles++;
      metrics.count("engine_elements_total", work.elements, this.#labels);
      metrics.count("engine_bundles_total", 1, this.#labels);
      if (bundle.afterCommits.length > 0 && ending.state() !== "failed") settled = this.#settle(bundle.afterCommits);
    }
    this.stats.running--;
    this.#ended();
    this.#runtime.ending.changed();
    return { settled };
  }

  /** Undefined when the job has failed, be it by this. Waits between two tries. */
  async tryUntilDone<T>(attempt: () => Promise<T>): Promise<T | undefined> {
    const { log, random, bundleTries, metrics, ending } = this.#runtime;
    for (let tries = 1; ending.state() !== "failed"; tries++) {
      try {
        const done = await attempt();
        return ending.state() === "failed" ? undefined : done;
      } catch (cause) {
        this.stats.failures++;
        metrics.count("engine_bundle_failures_total", 1, this.#labels);
        log("warn", "a bundle failed", { ...this.#labels, tries, error: cause });
        if (tries >= bundleTries) {
          ending.fail(new Error(`${this.#labels.stage}: a bundle failed ${tries} times`, { cause }));
          return undefined;
        }
        await ending.pause(RETRY_MS * 2 ** (tries - 1) * (1 - random.next() / 2)).over;
      }
    }
    return undefined;
  }

  async #settle(callbacks: readonly AfterCommit[]): Promise<void> {
    this.stats.settling++;
    // Side by side, so that acknowledgements can share a commit.
    const ends = await Promise.allSettled(callbacks.map(async (callback) => callback()));
    for (const end of ends)
      if (end.status === "rejected")
        this.#runtime.log("error", "an afterCommit failed", { ...this.#labels, error: end.reason });
    this.stats.settling--;
    this.#ended();
    this.#runtime.ending.changed();
  }
}

async function handedOn(bundle: Bundle, stages: readonly Stage[]): Promise<void> {
  // All are offered before any is awaited: a full queue holds back this bundle, not the other queues.
  const waits = bundle.outgoing.map(({ stage, values }) => stages[stage]!.inbox.offer(values));
  for (const wait of waits) if (wait !== undefined) await wait;
}
