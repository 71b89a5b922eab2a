// How do many callers share one slow commit? What arrives while one is under way waits and is the next one's batch.

export interface GroupCommit<In, Out> {
  /** Resolves with the item's result when its batch is committed, rejects with what the commit rejected with. */
  submit(item: In): Promise<Out>;
  /** Runs between two commits. */
  between(run: () => Promise<void>): Promise<void>;
  /** Resolves when nothing waits and nothing is under way. */
  drained(): Promise<void>;
}

export interface GroupCommitOptions<In, Out> {
  /** Results in the order of the batch. Never called twice at a time. */
  commit(batch: readonly In[]): Promise<Out[]>;
  bytesOf(item: In): number;
  /** A batch is closed when it holds this much. */
  batchBytes: number;
}

interface Waiting<In, Out> {
  item: In;
  resolve(out: Out): void;
  reject(reason: unknown): void;
}

export function groupCommit<In, Out>(options: GroupCommitOptions<In, Out>): GroupCommit<In, Out> {
  const waiting: Waiting<In, Out>[] = [];
  let line: Promise<void> = Promise.resolve();
  let scheduled = false;

  async function commitBatch(): Promise<void> {
    const batch = takeBatch(waiting, options);
    scheduled = false;
    if (waiting.length > 0) schedule();
    if (batch.length === 0) return;
    try {
      const results = await options.commit(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
    } catch (reason) {
      for (const { reject } of batch) reject(reason);
    }
  }

  /** Begins a microtask later at the earliest, so that appends made in one go share a batch. */
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    line = line.then(commitBatch);
  }

  return {
    submit(item) {
      const result = new Promise<Out>((resolve, reject) => waiting.push({ item, resolve, reject }));
      schedule();
      return result;
    },
    between(run) {
      const ran = line.then(run);
      line = ran.catch(() => {});
      return ran;
    },
    async drained() {
      do await line;
      while (waiting.length > 0);
    },
  };
}

function takeBatch<In, Out>(waiting: Waiting<In, Out>[], options: GroupCommitOptions<In, Out>): Waiting<In, Out>[] {
  let bytes = 0;
  const end = waiting.findIndex(({ item }) => {
    if (bytes >= options.batchBytes) return true;
    bytes += options.bytesOf(item);
    return false;
  });
  return waiting.splice(0, end < 0 ? waiting.length : end);
}
