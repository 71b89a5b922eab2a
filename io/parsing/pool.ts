// Who parses while the main thread fetches? Worker threads, each with one page at a time and a limit of time and memory.
import { Worker } from "node:worker_threads";
import type { Clock } from "../../ports/clock.ts";
import type { ParseFailure, Parser } from "../../ports/parser.ts";
import type { ParsedPage, ParseRequest } from "../../schemas/parsed-page.ts";
import type { WorkerMessage, WorkerRequest } from "./worker.ts";

export interface WorkerParserOptions {
  /** Threads; each is started when there is work for it, and kept. */
  workers: number;
  /** For one page, from the moment a thread takes it. */
  timeMs: number;
  /** Of one thread's heap. */
  memoryMb: number;
  /** Pages beside one for each thread that may wait; one more is `busy`. */
  queueMax: number;
  clock: Clock;
}

/** A thread loads its modules in a tenth of that even on a busy machine; one that takes longer is replaced. */
const START_MS = 30_000;

type Result = ParsedPage | ParseFailure;

interface Job {
  request: ParseRequest;
  resolve(result: Result): void;
}

/** A thread and what it is doing: nothing while it starts (`started` false) or is idle. */
interface Thread {
  worker: Worker;
  started: boolean;
  job: Job | undefined;
  jobId: number;
  callOff(): void;
}

/** A page that overruns a limit ends its thread, which is replaced: the page is answered `timeout` or `memory`. */
export function workerParser(options: WorkerParserOptions): Parser {
  const threads = new Set<Thread>();
  const queue: Job[] = [];
  let jobs = 0;
  let closing: Promise<void> | undefined;

  function start(): void {
    const worker = new Worker(entry, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: options.memoryMb } });
    const thread: Thread = { worker, started: false, job: undefined, jobId: 0, callOff: () => {} };
    threads.add(thread);
    thread.callOff = options.clock.after(START_MS, () => end(thread, failure("error", "a parsing thread did not start")));
    worker.on("message", (message: WorkerMessage) => hear(thread, message));
    worker.on("error", (error: NodeJS.ErrnoException) => {
      const memory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      end(thread, failure(memory ? "memory" : "error", error.message));
    });
    worker.on("exit", () => end(thread, failure("error", "the parsing thread ended")));
  }

  function hear(thread: Thread, message: WorkerMessage): void {
    if (!threads.has(thread)) return;
    if (message.kind === "ready") thread.started = true;
    else if (message.id !== thread.jobId) return;
    thread.callOff();
    const { job } = thread;
    thread.job = undefined;
    if (message.kind === "parsed") job?.resolve(message.result);
    give();
  }

  /** Takes the thread out and answers its page, or, where it never started, the one that waits longest: so nothing retries for ever. */
  function end(thread: Thread, result: ParseFailure): void {
    if (!threads.delete(thread)) return;
    thread.callOff();
    void thread.worker.terminate();
    const job = thread.started ? thread.job : queue.shift();
    job?.resolve(result);
    give();
  }

  /** Hands waiting pages to idle threads, and starts one more where there are too few. */
  function give(): void {
    if (closing !== undefined) return;
    for (const thread of threads) {
      if (queue.length === 0) return;
      if (thread.started && thread.job === undefined) assign(thread, queue.shift() as Job);
    }
    const starting = [...threads].filter((thread) => !thread.started).length;
    for (let more = queue.length - starting; more > 0 && threads.size < options.workers; more--) start();
  }

  function assign(thread: Thread, job: Job): void {
    thread.job = job;
    thread.jobId = ++jobs;
    thread.callOff = options.clock.after(options.timeMs, () => {
      end(thread, failure("timeout", `parsing took longer than ${options.timeMs} ms`));
    });
    // A copy is handed over: the caller keeps its bytes, which may be part of a larger buffer.
    const bytes = new Uint8Array(job.request.bytes);
    const message: WorkerRequest = { id: thread.jobId, request: { ...job.request, bytes } };
    thread.worker.postMessage(message, [bytes.buffer]);
  }

  async function shutDown(): Promise<void> {
    const ended = failure("busy", "the parser is closing");
    for (const job of queue.splice(0)) job.resolve(ended);
    const left = [...threads];
    threads.clear();
    for (const thread of left) {
      thread.callOff();
      thread.job?.resolve(ended);
    }
    await Promise.all(left.map((thread) => thread.worker.terminate()));
  }

  return {
    async parse(request) {
      if (closing !== undefined) return failure("busy", "the parser is closing");
      const taken = [...threads].filter((thread) => thread.job !== undefined).length;
      if (taken + queue.length >= options.workers + options.queueMax)
        return failure("busy", `${queue.length} pages wait already`);
      return new Promise((resolve) => {
        queue.push({ request, resolve });
        give();
      });
    },
    close() {
      closing ??= shutDown();
      return closing;
    },
  };
}

/** The built worker image holds .js files. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js", import.meta.url);

function failure(reason: ParseFailure["reason"], detail: string): ParseFailure {
  return { ok: false, reason, detail };
}
