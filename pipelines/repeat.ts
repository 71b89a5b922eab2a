// How is something done again and again for as long as a crawl lives? One run after another, never two at once.
import type { Clock } from "../ports/clock.ts";
import type { Log } from "../ports/log.ts";

export interface Repeated {
  /** From the start, and from the end of each run, to the next. */
  everyMs: number;
  /** Said in the log when a run fails, which does not end the others. */
  failed: string;
}

/** The first run comes after `everyMs`. Returns a function that ends it; a run that is under way then goes to its end. */
export function repeat(
  { clock, log }: { clock: Clock; log: Log },
  { everyMs, failed }: Repeated,
  work: () => Promise<void>,
): () => void {
  let callOff = clock.after(everyMs, tick);
  let ended = false;
  function tick(): void {
    void work()
      .catch((error) => log("error", failed, { error: String(error) }))
      .finally(() => {
        if (!ended) callOff = clock.after(everyMs, tick);
      });
  }
  return () => {
    ended = true;
    callOff();
  };
}
