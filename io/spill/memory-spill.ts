// Runs without a disk: what the tests of those who spill use, and say how much room there is.
import { type Run, type RunReader, type RunWriter, type Spill, SpillError } from "../../ports/spill.ts";

export interface MemorySpill extends Spill {
  /** Runs and their bytes, as they stand and as they were ever written. */
  stats(): { runs: number; bytes: number; runsWritten: number; bytesWritten: number };
}

/** `room`: bytes that fit at a time. */
export function memorySpill(room = Number.POSITIVE_INFINITY): MemorySpill {
  const runs = new Map<object, number>();
  let bytes = 0;
  let written = { runs: 0, bytes: 0 };
  let removed = false;

  function begin(): RunWriter {
    const chunks: Buffer[] = [];
    let size = 0;
    const free = () => {
      bytes -= size;
      size = 0;
    };
    return {
      append(chunk) {
        if (removed) throw new SpillError("failed", "the runs in memory are removed");
        if (bytes + chunk.length > room) throw new SpillError("full", `no room is left for runs in memory, of ${room} bytes`);
        chunks.push(Buffer.from(chunk));
        size += chunk.length;
        bytes += chunk.length;
      },
      end() {
        written = { runs: written.runs + 1, bytes: written.bytes + size };
        const run: Run = {
          bytes: size,
          read: (from = 0) => reader(chunks, from),
          remove() {
            if (runs.delete(run)) free();
          },
        };
        runs.set(run, size);
        return run;
      },
      abandon: free,
    };
  }

  return {
    begin,
    removeAll() {
      removed = true;
      runs.clear();
      bytes = 0;
    },
    stats: () => ({ runs: runs.size, bytes, runsWritten: written.runs, bytesWritten: written.bytes }),
  };
}

function reader(chunks: readonly Buffer[], from: number): RunReader {
  let index = from;
  let at = from;
  return {
    get at() {
      return at;
    },
    next() {
      at = index;
      const chunk = chunks[index++];
      return chunk && Buffer.from(chunk);
    },
    close: () => undefined,
  };
}
