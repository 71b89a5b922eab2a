// How many things are done at once, and in which order do the others wait? A fixed number, first come, first served.

export interface Slots {
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function slots(count: number): Slots {
  let free = count;
  const waiting = new Set<() => void>();
  const leave = (): void => {
    const [first] = waiting;
    if (first === undefined) {
      free++;
      return;
    }
    waiting.delete(first);
    first(); // the slot goes from hand to hand
  };
  return {
    async run(work) {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.add(resolve));
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
