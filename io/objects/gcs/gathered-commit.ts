// How long does an append wait for company? A commit that costs an object is put off until enough is gathered, or a given time is over.
import type { Clock } from "../../../ports/clock.ts";
import { type GroupCommitOptions, groupCommit } from "../group-commit.ts";

export interface GatheringOptions<In, Out> extends GroupCommitOptions<In, Out> {
  clock: Clock;
  /** From the first that is gathered. */
  gatherMs: number;
}

export interface GatheredCommit<In, Out> {
  /** Resolves with the item's result when its batch is committed, rejects with what the commit rejected with. */
  submit(item: In): Promise<Out>;
  /** Commits what is gathered, and waits until nothing is under way. */
  drained(): Promise<void>;
}

/**
 * A commit is due this long after the first page that waits for it. At the design's mean of 115 fetches a second and worker a segment
 * then holds some 55 pages, 3 MB; two objects a commit are $170 a day for a hundred workers. A page waits 0.25 s on average, and holds
 * no host up: its clock runs from the answer. A second would halve the cost, and at the peak of 250 a second take half of the pool's
 * 256 slots for waiting alone.
 */
export const GATHER_MS = 500;
/** What is gathered is held in memory twice while it is sent; half a second of a worker at its peak is 7 MB. */
export const BATCH_BYTES = 16 * 1024 * 1024;
/** Records or lines of a commit: their places and index lines are held in memory too. */
export const BATCH_ITEMS = 10_000;

/** The first commit after a time of rest waits for others too; what comes while one is under way is the next one's batch. */
export function gatheredCommit<In, Out>(options: GatheringOptions<In, Out>): GatheredCommit<In, Out> {
  const group = groupCommit(options);
  let gathered: (() => void)[] = [];
  let bytes = 0;
  let stopTimer: (() => void) | undefined;

  function commit(): void {
    stopTimer?.();
    stopTimer = undefined;
    const due = gathered;
    gathered = [];
    bytes = 0;
    for (const submit of due) submit();
  }

  return {
    submit(item) {
      return new Promise((resolve, reject) => {
        gathered.push(() => group.submit(item).then(resolve, reject));
        bytes += options.bytesOf(item);
        if (bytes >= options.batchBytes) commit();
        else stopTimer ??= options.clock.after(options.gatherMs, commit);
      });
    },
    drained() {
      commit();
      return group.drained();
    },
  };
}

/** So many bytes count for an item that a batch has no more than `batchItems`, whatever they weigh. */
export function weightOf(bytes: number, items: number, batch: { bytes: number; items: number }): number {
  return Math.max(bytes, items * (batch.bytes / batch.items));
}
