// How does a bounded job come to its end? When all stages are through, by stop, or by the first failure; whatever is under way then emits no more.
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";

export interface BatchEnd {
  state: "done" | "stopped" | "failed";
  /** Of a failed job: names the stage, and has what the DoFn threw as its cause. */
  error?: Error;
}

export interface Ending {
  /** Undefined while it goes on. */
  state(): "stopped" | "failed" | undefined;
  error(): Error | undefined;
  stop(): void;
  /** The first failure counts. */
  fail(error: Error): void;
  /** Throws where the job is ending. */
  mustGoOn(): void;
  /** Resolves after the time, or at once when the job is ending. */
  pause(delayMs: number): Promise<void>;
}

export function startEnding(clock: Clock, log: Log): Ending {
  const cuts = new Set<() => void>();
  let state: "stopped" | "failed" | undefined;
  let failure: Error | undefined;

  function begin(how: "stopped" | "failed"): void {
    state = how;
    for (const cut of cuts) cut();
  }

  return {
    state: () => state,
    error: () => failure,
    stop() {
      if (state === undefined) begin("stopped");
    },
    fail(error) {
      if (state === "failed") return;
      failure = error;
      log("error", "the job has failed", { error });
      begin("failed");
    },
    mustGoOn() {
      if (state !== undefined) throw new Error(state === "stopped" ? "the job is being stopped" : "the job has failed");
    },
    pause(delayMs) {
      if (state !== undefined) return Promise.resolve();
      return new Promise((resolve) => {
        const cut = () => {
          callOff();
          cuts.delete(cut);
          resolve();
        };
        const callOff = clock.after(delayMs, cut);
        cuts.add(cut);
      });
    },
  };
}
