// How long may this request still take? One total time from connect() to the last byte of the body.
import type { Clock } from "../../ports/clock.ts";

export interface Countdown {
  over(): boolean;
  leftMs(): number;
  /** Called once when the time is over, at once if it is; takes the place of what was given before. */
  whenOver(run: () => void): void;
  stop(): void;
}

export function countdown(clock: Clock, totalMs: number): Countdown {
  const endsAt = clock.now() + totalMs;
  let over = false;
  let stopped = false;
  let then = () => {};
  const cancel = clock.after(totalMs, () => {
    over = true;
    then();
  });
  return {
    over: () => over,
    leftMs: () => Math.max(0, endsAt - clock.now()),
    whenOver(run) {
      if (over && !stopped) run();
      else then = run;
    },
    stop() {
      stopped = true;
      then = () => {};
      cancel();
    },
  };
}

/** The promise's value, or undefined once the time is over. The promise must not reject. */
export function within<T>(time: Countdown, promise: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve) => {
    time.whenOver(() => resolve(undefined));
    void promise.then(resolve);
  });
}
