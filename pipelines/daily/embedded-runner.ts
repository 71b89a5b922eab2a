// How does a phase of the daily pipeline run in this process? On the embedded engine, spilling beside the data, with a line of progress.
import { type BatchJob, type BatchOptions, runBatch, type StageProgress } from "../../beam/batch/run-batch.ts";
import type { Spill } from "../../ports/spill.ts";
import type { DailyServices } from "../../transforms/daily/services.ts";
import { dailyPipeline, dailyRegistry } from "../daily.ts";
import { startProgress } from "../progress-line.ts";
import type { PhaseRunner } from "./run-daily.ts";

export interface DailyRunner {
  run: PhaseRunner;
  /** The phase under way ends, and no other begins. */
  stop(): void;
  /** Once no phase runs. */
  close(): Promise<void>;
}

export interface EmbeddedRunnerOptions extends Pick<BatchOptions<unknown>, "memoryBytes"> {
  services: DailyServices;
  /** A place of its own for each phase. */
  openSpill(): Spill;
  stream: { isTTY?: boolean; columns?: number; write(text: string): unknown };
}

export function embeddedRunner({ services, openSpill, stream, ...limits }: EmbeddedRunnerOptions): DailyRunner {
  let job: BatchJob | undefined;
  let stopped = false;
  return {
    async run(phase, config) {
      if (stopped) return "stopped";
      const { clock, log, metrics } = services;
      job = runBatch({
        proto: dailyPipeline(phase, config),
        registry: dailyRegistry(),
        ...{ services, clock, log, metrics, spill: openSpill(), ...limits },
      });
      const progress = job.progress;
      const endProgress = startProgress({ clock, stream, line: () => `${phase.doing}: ${stageLine(progress())}` });
      const { state, error } = await job.done;
      endProgress();
      if (state === "failed") throw error;
      return state;
    },
    stop() {
      stopped = true;
      void job?.stop();
    },
    close: async () => {},
  };
}

/** The stage at work, and how far it is. */
function stageLine(stages: readonly StageProgress[]): string {
  const at = Math.max(
    0,
    stages.findIndex(({ state }) => state === "running"),
  );
  const { label, elementsIn, elementsOut } = stages[at]!;
  return `step ${at + 1} of ${stages.length}, ${label}, ${elementsIn} in, ${elementsOut} out`;
}
