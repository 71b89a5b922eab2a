// Who works next? The stages in turn, one step each, with a breath for the event loop now and then, so that sockets are served.
import type { Clock } from "../../ports/clock.ts";

/** A breath is drawn after so many elements or so long, whichever comes first: what a socket waits at most for us. */
const BREATH_ELEMENTS = 1000;
const BREATH_MS = 10;

export interface Worker {
  /** Starts some bundles; true when more could be started at once. */
  step(): boolean;
}

export interface Turns {
  /** `worker.step` is called soon, never from within this call. */
  wake(worker: Worker): void;
  /** Notes that so many elements were worked on. */
  spend(elements: number): void;
  /** Undefined, or what to await before any more work. */
  breath(): Promise<void> | undefined;
}

export function startTurns(clock: Clock, failed: (error: unknown) => void): Turns {
  const awake = new Set<Worker>();
  let running = false;
  let spent = 0;
  let since = clock.now();
  let breath: Promise<void> | undefined;

  const turns: Turns = {
    wake(worker) {
      awake.add(worker);
      if (running) return;
      running = true;
      run().catch((error) => {
        running = false;
        failed(error);
      });
    },
    spend(elements) {
      spent += elements;
    },
    breath() {
      if (breath === undefined && (spent >= BREATH_ELEMENTS || clock.now() - since >= BREATH_MS))
        breath = new Promise((resolve) => {
          clock.after(0, () => {
            spent = 0;
            since = clock.now();
            breath = undefined;
            resolve();
          });
        });
      return breath;
    },
  };

  async function run(): Promise<void> {
    for (;;) {
      // Even without a breath a promise's turn passes, in which bundles go on.
      await turns.breath();
      const [worker] = awake;
      if (worker === undefined) break;
      awake.delete(worker);
      if (worker.step()) awake.add(worker);
    }
    running = false;
  }

  return turns;
}
