// Were two runs the same? A digest of everything that went over the wire, in order.
import { createHash } from "node:crypto";
import type { WireObserver } from "./wire.ts";

const CHUNK_CHARS = 1 << 16; // hashed at once: a call costs more than what a line of it does

export function digester(): WireObserver & { value(): string } {
  const hash = createHash("sha256");
  let pending = "";
  const add = (line: string): void => {
    pending += line;
    if (pending.length < CHUNK_CHARS) return;
    hash.update(pending);
    pending = "";
  };
  return {
    arrived: (entry) => add(`> ${entry.at} ${entry.worker} ${entry.scheme}//${entry.host}${entry.path}\n`),
    answered: (entry) => add(`< ${entry.answeredAt} ${entry.host} ${entry.serial} ${entry.status}\n`),
    value: () => hash.update(pending).digest("hex"),
  };
}
