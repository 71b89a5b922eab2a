// How is long work shown while it goes on? One live line on a terminal, one line every ten seconds elsewhere.
import type { Clock } from "../ports/clock.ts";

export interface ProgressOptions {
  clock: Clock;
  stream: { isTTY?: boolean; columns?: number; write(text: string): unknown };
  line(): string | Promise<string>;
}

const LIVE_MS = 500;
const PLAIN_MS = 10_000;
const COLUMNS = 120; // where the terminal does not tell

/** Returns a function that ends it and leaves the line clean. */
export function startProgress({ clock, stream, line }: ProgressOptions): () => void {
  const live = stream.isTTY === true;
  const everyMs = live ? LIVE_MS : PLAIN_MS;
  let callOff = clock.after(everyMs, tick);
  let ended = false;
  function tick(): void {
    void Promise.resolve(line()).then((text) => {
      if (ended) return;
      stream.write(live ? `\r\u001b[2K${text.slice(0, (stream.columns ?? COLUMNS) - 1)}` : `${text}\n`);
      callOff = clock.after(everyMs, tick);
    });
  }
  return () => {
    ended = true;
    callOff();
    if (live) stream.write("\r\u001b[2K");
  };
}
