// Did a conditional write happen whose answer was lost? What stands in the row tells: it is read, and never taken for granted.
import type { StoreError } from "../../../ports/versioned-table.ts";
import { wasRefused } from "./faults.ts";
import type { Tries } from "./repeat.ts";

/**
 * `done`: the row is as the write leaves it, and only this write can have left it so. `open`: the row is as the write wants to find it.
 * `moved`: neither; this write, and then another one over it, or another one alone.
 */
export type Standing = "done" | "open" | "moved";

export interface ConditionalWrite {
  /** Whether the condition held, and the row was written. Sent again with the same rev: whichever comes first, the others find it taken. */
  send(timeoutMs: number): Promise<boolean>;
  /** Reads the row. Rejects with StoreError. */
  look(): Promise<Standing>;
  /** What to tell where nobody can know. */
  movedOn(cause: unknown): StoreError;
  /** What a failure means. */
  trouble(error: unknown): StoreError;
  /** Told how each lost answer was made good. */
  lost(standing: Standing): void;
}

/**
 * Whether the condition held and the row was written. Rejects with StoreError; then it may or may not have happened, now or within the
 * time that the service still works on a call that we have given up. docs/decisions/2026-11-30-bigtable-lost-answers.md
 */
export async function conditionally(write: ConditionalWrite, tries: Tries): Promise<boolean> {
  let lost: unknown;
  for (;;) {
    let answer: boolean | undefined;
    try {
      answer = await write.send(tries.timeoutMs());
      if (answer || lost === undefined) return answer;
    } catch (error) {
      // What is refused now may have been done by an earlier try; StoreError says so much.
      if (wasRefused(error)) throw write.trouble(error);
      lost = error;
    }
    const standing = await write.look();
    write.lost(standing);
    if (standing === "done") return true;
    // A try that was answered with no met something in the row: if that is gone, it may have been ours.
    if (standing === "moved" || answer === false) throw write.movedOn(lost);
    if (!(await tries.again())) throw write.trouble(lost);
  }
}
