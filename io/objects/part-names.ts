// What are output files called? dt=YYYY-MM-DD/kind-<time>-<random><ending>, days and times in UTC.
import type { Random } from "../../ports/random.ts";

const DAY_MS = 24 * 60 * 60 * 1000; // UTC has no other days
const RANDOM_CHARS = 8; // 48 bits: two files of one second do not meet

/** Names for parts begun at a time (Unix ms), never twice the same. */
export function partNames(random: Random, kind: string, ending: string): (at: number) => string {
  return (at) => {
    const time = new Date(at).toISOString().slice(0, 19).replace(/[-:]/g, "");
    return `${dayFolder(at)}/${kind}-${time}-${random.token().slice(0, RANDOM_CHARS)}${ending}`;
  };
}

function dayFolder(at: number): string {
  return `dt=${new Date(at).toISOString().slice(0, 10)}`;
}

export function msToNextDay(at: number): number {
  return DAY_MS - (at % DAY_MS);
}

/** An empty file beside a part that is being written; gone when the part was closed. What is left of it at a start needs a look. */
export const OPEN_MARK = ".open";
