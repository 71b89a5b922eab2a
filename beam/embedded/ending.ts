// How does a job end? By stop, when all that is queued is worked off, or by failure, when nothing runs any more.
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Stage } from "./stage.ts";

/** Stopping: sources end and queues drain. Failed: nothing new begins. */
export type EndState = "stopping" | "failed";

export interface Pause {
  /** Resolves after the time, or at once when the job is ending. */
  over: Promise<void>;
  /** Resolves it now. */
  cut: () => void;
}

export interface Ending {
  /** Resolves when the job is ending and nothing is left to do. */
  readonly through: Promise<void>;
  state(): EndState | undefined;
  /** Of a failed job. */
  error(): Error | undefined;
  stop(): void;
  fail(error: Error): void;
  /** Something ended: a job that is ending looks whether it is through. */
  changed(): void;
  pause(delayMs: number): Pause;
}

/** `stages` may still be empty when this is called. */
export function startEnding(clock: Clock, log: Log, stages: readonly Stage[]): Ending {
  const { promise: through, resolve } = Promise.withResolvers<void>();
  const pauses = new Set<() => void>();
  let state: EndState | undefined;
  let error: Error | undefined;

  function begin(how: EndState): void {
    state = how;
    for (const stage of stages) {
      stage.stop();
      if (how === "failed") stage.inbox.close();
    }
    for (const cut of pauses) cut();
    changed();
  }

  function changed(): void {
    if (state === undefined) return;
    if (stages.every((stage) => (state === "failed" ? stage.idle() : stage.quiet()))) resolve();
  }

  return {
    through,
    changed,
    state: () => state,
    error: () => error,
    stop() {
      if (state === undefined) begin("stopping");
    },
    fail(cause) {
      if (state === "failed") return;
      error = cause;
      log("error", "the job has failed", { error });
      begin("failed");
    },
    pause(delayMs) {
      const { promise: over, resolve: end } = Promise.withResolvers<void>();
      const callOff = clock.after(delayMs, () => cut());
      const cut = () => {
        callOff();
        pauses.delete(cut);
        end();
      };
      pauses.add(cut);
      if (state !== undefined) cut();
      return { over, cut };
    },
  };
}
