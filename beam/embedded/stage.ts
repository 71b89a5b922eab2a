// What is a stage to the engine? Something with a queue that works in steps, can be asked how it fares, and ends.
import type { Line } from "./bundle.ts";
import type { Inbox } from "./inbox.ts";
import type { StageStats } from "./runtime.ts";
import type { Worker } from "./turns.ts";

export interface Stage extends Worker {
  readonly line: Line;
  readonly inbox: Inbox;
  /** No bundle or poll in progress, no afterCommit pending. */
  idle(): boolean;
  /** Idle, and nothing queued; timers that wait do not count. */
  quiet(): boolean;
  /** Unix ms. */
  nextTimerAt(): number | undefined;
  stats(): StageStats;
  /** Nothing comes in any more that belongs before `at` (Unix ms); Infinity: nothing at all. */
  rise?(at: number): void;
  /** The job is ending: no more polls, no more timers. */
  stop(): void;
}
