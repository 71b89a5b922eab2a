// What time is it outside the simulator? The wall is read once, and monotonic time counted from there, so that no step of it moves us.
import type { Clock } from "../ports/clock.ts";

// A longer setTimeout fires at once: its delay is kept in 31 bits. https://nodejs.org/api/timers.html#settimeoutcallback-delay-args
const TIMEOUT_MS_MAX = 2 ** 31 - 1;

/** Time that a suspended machine sleeps is not counted on Linux: a clock is for one run. Its timers keep the process alive. */
export function systemClock(): Clock {
  const offset = Date.now() - performance.now();
  const exact = (): number => offset + performance.now();
  return {
    now: () => Math.floor(exact()),
    after(delayMs, run) {
      if (!(delayMs > 0)) {
        const immediate = setImmediate(run);
        return () => clearImmediate(immediate);
      }
      const dueAt = exact() + delayMs;
      let timer: NodeJS.Timeout | undefined;
      // setTimeout counts in whole ms from when the loop last looked, and so may fire up to one early: then it waits on.
      const wait = (): void => {
        const leftMs = dueAt - exact();
        if (leftMs <= 0) run();
        else timer = setTimeout(wait, Math.min(Math.ceil(leftMs), TIMEOUT_MS_MAX));
      };
      wait();
      return () => clearTimeout(timer);
    },
  };
}
