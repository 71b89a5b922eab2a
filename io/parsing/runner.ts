// Where does the code of worker.ts run? In a thread of this process, or in a process of its own, which alone may run out of memory safely.
import { fork } from "node:child_process";
import { Worker } from "node:worker_threads";
import type { ParseFailure } from "../../ports/parser.ts";
import type { WorkerMessage, WorkerRequest } from "./worker.ts";

/** One that takes one page at a time. */
export interface Runner {
  post(request: WorkerRequest): void;
  /** Ends it, whatever it is doing; resolves when it is gone. */
  end(): Promise<unknown>;
}

export interface RunnerEvents {
  heard(message: WorkerMessage): void;
  /** It is gone or no longer to be trusted. May come more than once. */
  failed(failure: ParseFailure): void;
}

/** `memoryMb` bounds its heap. */
export type StartRunner = (memoryMb: number, events: RunnerEvents) => Runner;

/**
 * Bytes reach it without being copied. V8 gives a thread near its limit 16 MB more to end in; one allocation larger than that ends the
 * whole process, so a thread is only for what cannot come near the limit.
 */
export function startThread(memoryMb: number, { heard, failed }: RunnerEvents): Runner {
  const worker = new Worker(entry, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
  worker.on("message", heard);
  worker.on("error", (error: NodeJS.ErrnoException) => {
    failed(failure(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "memory" : "error", error.message));
  });
  worker.on("exit", () => failed(failure("error", "the parsing thread ended")));
  return {
    post({ id, request }) {
      // A copy is handed over: the caller keeps its bytes, which may be part of a larger buffer.
      const bytes = new Uint8Array(request.bytes);
      worker.postMessage({ id, request: { ...request, bytes } } satisfies WorkerRequest, [bytes.buffer]);
    },
    end: () => worker.terminate(),
  };
}

export function startProcess(memoryMb: number, { heard, failed }: RunnerEvents): Runner {
  const child = fork(entry, {
    execArgv: [`--max-old-space-size=${memoryMb}`],
    serialization: "advanced",
    stdio: ["ignore", "ignore", "ignore", "ipc"], // V8's last words are pages long
  });
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve()).once("error", () => resolve());
  });
  child.on("message", (message) => heard(message as WorkerMessage));
  child.on("error", (error) => failed(failure("error", `the parsing process: ${error.message}`)));
  // V8 aborts at its limit; the system's own killer of what takes too much memory kills.
  child.on("exit", (code, signal) => {
    const memory = signal === "SIGABRT" || signal === "SIGKILL";
    failed(failure(memory ? "memory" : "error", `the parsing process ended (${signal ?? code})`));
  });
  return {
    post: (request) => void child.send(request, (error) => error && failed(failure("error", error.message))),
    end() {
      child.kill("SIGKILL");
      return gone;
    },
  };
}

/** The built worker image holds .js files. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

export function failure(reason: ParseFailure["reason"], detail: string): ParseFailure {
  return { ok: false, reason, detail };
}
