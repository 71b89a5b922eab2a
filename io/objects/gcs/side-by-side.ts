// How many calls of a compaction are under way at once? So many that none waits for the one before, and no more than memory bears.

const WIDTH = 16; // a call takes some 50 ms: 300 a second, far below the 1,000 writes a second that a bucket begins with

/** Results in the order of the items. When a run rejects no other is begun; rejects when all that were under way have ended. */
export async function sideBySide<In, Out>(items: readonly In[], run: (item: In, at: number) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  const entries = items.entries();
  let failed = false;
  const worker = async () => {
    for (const [at, item] of entries) {
      if (failed) return;
      try {
        results[at] = await run(item, at);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: WIDTH }, worker));
  for (const each of ended) if (each.status === "rejected") throw each.reason;
  return results;
}
