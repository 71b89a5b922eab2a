// What time is it, and wake me later. The one door to time.

export interface Clock {
  /** Unix ms, whole. Read once from the wall, then counted monotonically: it never steps back. */
  now(): number;
  /** Calls `run` once, `delayMs` or more from now (0 or less: as soon as may be). Returns a function that calls it off. */
  after(delayMs: number, run: () => void): () => void;
}

export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.after(delayMs, resolve));
}
