// How do callers reach the thread that owns a database? The requests of a tick leave in one message; each gets its own answer.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { StoreError } from "../../ports/versioned-table.ts";
import type {
  AnswerOf,
  Fault,
  FromThread,
  Operation,
  Request,
  RequestOf,
  Settled,
  StoreOptions,
  ToThread,
} from "./sqlite-requests.ts";

export interface StoreThread {
  /** Rejects with StoreError. */
  ask<O extends Operation>(request: RequestOf<O>): Promise<AnswerOf<O>>;
  stats(): StoreStats;
  /** Resolves when what was asked before is done and the thread has ended. */
  close(): Promise<void>;
}

export interface StoreStats {
  /** Asked for so far. */
  requests: number;
  /** Transactions that were begun for them; reads need none. */
  transactions: number;
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: StoreError): void;
}

/** Rejects with StoreError where the database cannot be opened. The thread keeps the process alive only while it owes an answer. */
export async function startStoreThread(script: URL, options: StoreOptions): Promise<StoreThread> {
  const worker = new Worker(script, { workerData: options, execArgv: [], name: "store" });
  const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  await opened(worker, ended, options.folder);

  const waiting = new Map<number, Waiting>();
  const stats: StoreStats = { requests: 0, transactions: 0 };
  let tick: Request[] = [];
  let over: StoreError | undefined;
  let closed: Promise<void> | undefined;

  const post = (message: ToThread): void => worker.postMessage(message);
  const flush = (): void => {
    if (over === undefined && tick.length > 0)
      post({ kind: "requests", firstId: stats.requests - tick.length, requests: tick });
    tick = [];
  };
  const end = (error: StoreError): void => {
    over ??= error;
    for (const { reject } of waiting.values()) reject(over);
    waiting.clear();
  };
  const settle = (result: Settled): void => {
    const caller = waiting.get(result.id);
    waiting.delete(result.id);
    if ("fault" in result) caller?.reject(errorOf(result.fault));
    else caller?.resolve(result.answer);
  };

  worker.on("message", (message: FromThread) => {
    if (message.kind !== "settled") return;
    stats.transactions += message.transactions;
    for (const result of message.settled) settle(result);
    if (waiting.size === 0 && closed === undefined) worker.unref();
  });
  worker.unref(); // only now: a first listener for messages holds the process again
  worker.on("messageerror", (cause) => end(crashed(options.folder, cause)));
  worker.on("error", (cause) => end(crashed(options.folder, cause)));
  void ended.then(() => end(closed === undefined ? crashed(options.folder) : closedError(options.folder)));

  return {
    ask: <O extends Operation>(request: RequestOf<O>) =>
      new Promise<AnswerOf<O>>((resolve, reject) => {
        if (over !== undefined || closed !== undefined) return reject(over ?? closedError(options.folder));
        if (tick.length === 0) setImmediate(flush);
        if (waiting.size === 0) worker.ref();
        waiting.set(stats.requests++, { resolve: resolve as (answer: unknown) => void, reject });
        tick.push(request as Request);
      }),
    stats: () => ({ ...stats }),
    close() {
      if (closed === undefined) {
        flush();
        worker.ref();
        post({ kind: "close" });
        closed = ended;
      }
      return closed;
    },
  };
}

async function opened(worker: Worker, ended: Promise<void>, folder: string): Promise<void> {
  let message: FromThread;
  try {
    [message] = await Promise.race([once(worker, "message"), ended.then(() => Promise.reject(new Error("it ended")))]);
  } catch (cause) {
    throw crashed(folder, cause);
  }
  if (message.kind !== "refused") return;
  await ended;
  throw errorOf(message.fault);
}

function errorOf(fault: Fault): StoreError {
  return new StoreError(fault.message, { final: fault.final, cause: fault.cause });
}

function crashed(folder: string, cause?: unknown): StoreError {
  const detail = cause instanceof Error ? `: ${cause.message}` : "";
  return new StoreError(`the store in ${folder} has crashed${detail}; start again, what was acknowledged is kept`, {
    final: true,
    cause,
  });
}

function closedError(folder: string): StoreError {
  return new StoreError(`the store in ${folder} is closed`, { final: true });
}
