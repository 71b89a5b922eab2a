// How are the rows of one call written? Side by side, so many at a time; rows of one key one after the other, in the order given.

/** Writes of one call that are out at once: a batch of a thousand leaves most of the client's slots to the single writes of hosts. */
const ROWS_MAX = 64;

/** The answers in the order of the rows. When one fails no more are begun; it rejects, with the first failure, when none is under way. */
export async function eachRow<W extends { key: string }, A>(rows: readonly W[], work: (row: W) => Promise<A>): Promise<A[]> {
  const answers = new Array<A>(rows.length);
  const lines = Map.groupBy(rows.keys(), (index) => rows[index]!.key).values();
  const failures: unknown[] = [];
  // All take from one iterator.
  const worker = async (): Promise<void> => {
    for (const line of lines) {
      try {
        for (const index of line) answers[index] = await work(rows[index]!);
      } catch (error) {
        failures.push(error);
      }
      if (failures.length > 0) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(ROWS_MAX, rows.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return answers;
}
