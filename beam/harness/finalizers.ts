// What is to be called once the runner has committed a bundle? Its afterCommits, kept until it says so (beam_fn_api.proto, FinalizeBundleRequest).
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { AfterCommit } from "./bundle.ts";

/**
 * Bundles that wait for it. A runner without checkpoints never says so (Flink): beyond this the oldest are forgotten, and what they would
 * have acknowledged comes again.
 */
const BUNDLES_MAX = 10_000;

export class Finalizers {
  readonly #waiting = new Map<string, readonly AfterCommit[]>();
  readonly #log: Log;
  readonly #metrics: Metrics;

  constructor(log: Log, metrics: Metrics) {
    this.#log = log;
    this.#metrics = metrics;
  }

  get size(): number {
    return this.#waiting.size;
  }

  keep(instruction: string, callbacks: readonly AfterCommit[]): void {
    this.#waiting.delete(instruction);
    this.#waiting.set(instruction, callbacks);
    if (this.#waiting.size <= BUNDLES_MAX) return;
    for (const oldest of this.#waiting.keys()) {
      this.#waiting.delete(oldest);
      this.#metrics.count("harness_finalizers_dropped_total");
      this.#log("warn", "a bundle was never finalized; what it would have acknowledged comes again", { instruction: oldest });
      return;
    }
  }

  /** Resolves when all have been called; a failure is logged and changes nothing. An unknown bundle has none. */
  async finalize(instruction: string): Promise<void> {
    const callbacks = this.#waiting.get(instruction) ?? [];
    this.#waiting.delete(instruction);
    // Side by side, so that acknowledgements can share a commit.
    const ends = await Promise.allSettled(callbacks.map(async (callback) => callback()));
    for (const end of ends)
      if (end.status === "rejected") this.#log("error", "an afterCommit failed", { instruction, error: end.reason });
  }
  /** The worker has ended: the runner will not say anything any more. */
  clear(): void {
    this.#waiting.clear();
  }
}
