// How many ranges does a DoFn read at once? A bundle may hold them all, and each has a thousand rows in memory.

const RANGES_AT_ONCE = 2; // one is read while another is judged and written

export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** Work begins in the order in which it came, a few at a time. */
export function fewAtOnce(max = RANGES_AT_ONCE): Turns {
  const waiting: (() => void)[] = [];
  let free = max;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}
