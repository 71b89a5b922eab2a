// How long is a store waited for that refuses? A few times, ever longer; what may be tried again goes on, and what is broken for good does not.
import { type Clock, sleep } from "../ports/clock.ts";
import { StoreError } from "../ports/versioned-table.ts";

/** Together half as long as an entry in flight lives: if the store is away for longer, the entry expires, and counts as an answer not heard. */
const PATIENCE_MS = [50, 200, 800, 3_200, 12_800];

/** `work` may be done twice. Rejects with what it rejected with last. */
export async function patiently<T>({ clock }: { clock: Clock }, work: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const wait = PATIENCE_MS[tries];
      if (!(error instanceof StoreError) || error.final || wait === undefined) throw error;
      await sleep(clock, wait);
    }
  }
}
