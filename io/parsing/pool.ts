// Who parses while the main thread fetches? Threads, and for the few large pages a process, each with limits of time and memory.
import type { Clock } from "../../ports/clock.ts";
import type { Parser } from "../../ports/parser.ts";
import { parsingCrew } from "./crew.ts";
import { startProcess, startThread } from "./runner.ts";

export interface WorkerParserOptions {
  /** Threads; each is started when there is work for it, and kept. */
  workers: number;
  /** For one page, from the moment a thread takes it. */
  timeMs: number;
  /** Of the heap of one thread, and of the process. */
  memoryMb: number;
  /** Pages beside one for each thread that may wait; one more is `busy`. */
  queueMax: number;
  /** A page of more bytes goes to the process. Default: LARGE_BYTES. */
  largeBytes?: number;
  clock: Clock;
}

/**
 * A thread that runs out of memory may take this whole process with it (runner.ts), so what could is parsed elsewhere. Of the hostile
 * pages in test/hostile/ none needed more than 27 bytes of heap for one of its own: 2 MiB stay below 60 MB.
 */
const LARGE_BYTES = 2 * 1024 * 1024;
const LARGE_QUEUE = 4; // large pages that wait: 80 MiB at most
const IDLE_MS = 10_000; // the process keeps what a large page grew it to

/** A page that overruns a limit ends its thread or process, which is replaced: the page is answered `timeout` or `memory`. */
export function workerParser(options: WorkerParserOptions): Parser {
  const { workers, queueMax, largeBytes = LARGE_BYTES, ...shared } = options;
  const threads = parsingCrew({ ...shared, start: startThread, runners: workers, queueMax });
  const large = parsingCrew({ ...shared, start: startProcess, runners: 1, queueMax: LARGE_QUEUE, idleMs: IDLE_MS });
  return {
    parse: (request) => (request.bytes.length > largeBytes ? large : threads).parse(request),
    async close() {
      await Promise.all([threads.close(), large.close()]);
    },
  };
}
