// What is repeated when a call fails, and for how long? Reads, which change nothing, until one is answered or refused.
import { setTimeout as pause } from "node:timers/promises";
import type { Patience } from "./calls.ts";
import { wasRefused } from "./faults.ts";

export interface Tries {
  /** For the next call: what is left of the operation, at most the time of one call. */
  timeoutMs(): number;
  /** Waits before one more; false, at once, where tries or time are over. */
  again(): Promise<boolean>;
}

export function triesOf({ callMs, operationMs, pauseMs, tries }: Patience): Tries {
  const until = performance.now() + operationMs;
  let done = 0;
  return {
    timeoutMs: () => Math.max(1, Math.min(callMs, until - performance.now())),
    async again() {
      // Spread over half of it, so that those who failed together do not come back together.
      const waitMs = pauseMs * 2 ** done * (0.75 + Math.random() / 2);
      if (++done >= tries || performance.now() + waitMs >= until) return false;
      await pause(waitMs);
      return true;
    },
  };
}

/** Rejects with what the last call rejected with. */
export async function repeated<T>(patience: Patience, call: (timeoutMs: number) => Promise<T>): Promise<T> {
  const tries = triesOf(patience);
  for (;;) {
    try {
      return await call(tries.timeoutMs());
    } catch (error) {
      if (wasRefused(error) || !(await tries.again())) throw error;
    }
  }
}
