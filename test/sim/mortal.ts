// How does a worker die? Its ports stop answering: nothing that it still waits for ever comes, and no timer of it fires.
import type { Clock } from "../../ports/clock.ts";

export interface Life {
  dead: boolean;
  /** Port calls until it dies by itself; undefined: it does not. */
  callsLeft?: number;
}

const NEVER = new Promise<never>(() => {});

/** Before or after the call's effect, whichever the count falls on: two counts a call. */
function dying(life: Life): boolean {
  if (life.callsLeft !== undefined && !life.dead && --life.callsLeft <= 0) life.dead = true;
  return life.dead;
}

/** The same port for as long as the worker lives. Its methods are asynchronous; others are handed through. */
export function mortal<P extends object>(port: P, life: Life, methods: readonly (keyof P)[]): P {
  const wrapped: P = Object.create(port);
  for (const name of methods) {
    const method = port[name] as (...given: unknown[]) => Promise<unknown>;
    wrapped[name] = (async (...given: unknown[]) => {
      if (dying(life)) return NEVER;
      const result = await method.apply(port, given);
      return dying(life) ? NEVER : result;
    }) as P[keyof P];
  }
  return wrapped;
}

export function mortalClock(clock: Clock, life: Life, offsetMs: number): Clock {
  return {
    now: () => clock.now() + offsetMs,
    after: (delayMs, run) =>
      clock.after(delayMs, () => {
        if (!life.dead) run();
      }),
  };
}
