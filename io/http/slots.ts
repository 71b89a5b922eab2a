// How many connections may be in use at once? The rest wait in line, each no longer than its own time.
import type { Countdown } from "./countdown.ts";

export interface Slots {
  /** Whether the slot was got before the time was over. */
  take(time: Countdown): Promise<boolean>;
  give(): void;
  /** Slots taken. */
  taken(): number;
}

export function slots(max: number): Slots {
  let taken = 0;
  const waiting = new Set<() => void>();
  return {
    taken: () => taken,
    take(time) {
      if (taken < max) {
        taken += 1;
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        const next = () => resolve(true);
        waiting.add(next);
        time.whenOver(() => {
          if (waiting.delete(next)) resolve(false);
        });
      });
    },
    give() {
      const [next] = waiting;
      if (next === undefined) {
        taken -= 1;
        return;
      }
      waiting.delete(next); // the slot goes from hand to hand
      next();
    },
  };
}
