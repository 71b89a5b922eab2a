// How does a source tell that polling is worth it? By the wake of its watch, which is remembered until the next poll.
import type { Clock } from "../../ports/clock.ts";
import type { Outputs, SourceDoFn } from "../dofn.ts";

export interface SourceInstance {
  readonly source: SourceDoFn<Outputs>;
  setup(): Promise<void>;
  teardown(): Promise<void>;
  /** What came before this call is not told of again. */
  polling(): void;
  /** Resolves with true once something may have come since polling(), with false after the time or when `cut` is called. */
  arrival(clock: Clock, waitMs: number, cuts: Set<() => void>): Promise<boolean>;
}

export function sourceInstance(source: SourceDoFn<Outputs>): SourceInstance {
  let woken = false;
  let heard: () => void = () => undefined;
  let unwatch: () => void = () => undefined;
  return {
    source,
    async setup() {
      await source.setup?.();
      const watching = source.watch?.(() => {
        woken = true;
        heard();
      });
      if (watching !== undefined) unwatch = watching;
    },
    async teardown() {
      unwatch();
      await source.teardown?.();
    },
    polling() {
      woken = false;
    },
    arrival(clock, waitMs, cuts) {
      if (woken) return Promise.resolve(true);
      return new Promise((resolve) => {
        const callOff = clock.after(waitMs, () => done());
        const done = () => {
          callOff();
          cuts.delete(done);
          heard = () => undefined;
          resolve(woken);
        };
        heard = done;
        cuts.add(done);
      });
    },
  };
}
