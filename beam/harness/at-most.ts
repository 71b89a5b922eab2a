// How long is something waited for that may never come? Until a time, whatever it does then.
import type { Clock } from "../../ports/clock.ts";

/** Resolves when `wait` is settled, or after `ms`; at once where there is nothing to wait for. Never rejects. */
export async function atMost(clock: Clock, ms: number, wait: Promise<unknown> | undefined): Promise<void> {
  if (wait === undefined) return;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const callOff = clock.after(ms, resolve);
  await Promise.race([wait.catch(() => undefined), late]);
  callOff();
}
