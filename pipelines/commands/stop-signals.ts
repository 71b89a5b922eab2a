// When is a command to stop? At the first SIGINT or SIGTERM cleanly, at a later one at once.
import { exitCodes } from "../exit-codes.ts";

export interface StopSignals {
  /** Whether a signal has come. */
  stopped(): boolean;
  /** Signals do what they did before. */
  end(): void;
}

/** Where npm's script shell is bash, one Ctrl-C comes twice: from the terminal and from npm. */
const SAME_PRESS_MS = 500;

/** `stop` is called once, at the first signal; a second press ends the process. `now` gives ms. */
export function stopOnSignals({ now, stop }: { now(): number; stop(): void }): StopSignals {
  let askedAt: number | undefined;
  const pressed = (): void => {
    if (askedAt !== undefined) {
      if (now() - askedAt > SAME_PRESS_MS) process.exit(exitCodes.interrupted);
      return;
    }
    askedAt = now();
    stop();
  };
  process.on("SIGINT", pressed);
  process.on("SIGTERM", pressed);
  return {
    stopped: () => askedAt !== undefined,
    end() {
      process.off("SIGINT", pressed);
      process.off("SIGTERM", pressed);
    },
  };
}
