// How is one case kept from the others? In a process of its own, which ends with us, at a signal, or when its time is over; its last line is what it found.
import { join } from "node:path";
import { startGuarded } from "../../emulators/guarded.ts";
import type { Figures } from "./cases.ts";

const HEAP_MB = 3_000;
const RUN = join(import.meta.dirname, "../run.ts");

/** Runs `npm run bench -- ARGS`. Rejects where it fails, prints no figures, or the signal comes first. */
export function childFigures(args: readonly string[], signal: AbortSignal): Promise<Figures> {
  return lastJson<Figures>({ args: [`--max-old-space-size=${HEAP_MB}`, RUN, ...args], env: {} }, signal);
}

export interface NodeProgram {
  args: readonly string[];
  env: Readonly<Record<string, string>>;
}

/** What a program of Node prints last of what is JSON. */
export async function lastJson<T>({ args, env }: NodeProgram, signal: AbortSignal): Promise<T> {
  const child = startGuarded({ program: process.execPath, args: () => args, env: () => env });
  const end = (): void => void child.end();
  signal.addEventListener("abort", end);
  try {
    if (signal.aborted) end();
    const code = await child.wait();
    if (signal.aborted) throw signal.reason;
    const line = child
      .printed()
      .split("\n")
      .findLast((one) => one.startsWith("{"));
    if (code !== 0 || line === undefined) throw new Error(`a case ended with ${code}:\n${child.printed()}`);
    return JSON.parse(line) as T;
  } finally {
    signal.removeEventListener("abort", end);
  }
}
