// Could the crawler have known what this answer said? Not where the worker that heard it died before it was made durable.
import type { WireEntry } from "../wire.ts";

const KEPT = 1_000; // deaths of one worker that are remembered

/** From an answer to the durable write of what it says, beside the write itself, ms: nothing but the discarding of a body lies between. */
const HEARD_MS = 1_000;

export interface Crashes {
  crashed(worker: string, at: number): void;
  /** Whether the entry's worker died between the request and the time its answer was surely written down. */
  forgotten(entry: WireEntry): boolean;
}

export function crashes(storeMsMax = 0): Crashes {
  const deaths = new Map<string, number[]>();
  return {
    crashed(worker, at) {
      const times = deaths.get(worker) ?? [];
      times.push(at);
      if (times.length > KEPT) times.shift();
      deaths.set(worker, times);
    },
    forgotten({ worker, at, answeredAt }) {
      const until = (answeredAt ?? Number.POSITIVE_INFINITY) + HEARD_MS + storeMsMax;
      return deaths.get(worker)?.some((death) => death >= at && death <= until) ?? false;
    },
  };
}
