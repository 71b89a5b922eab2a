// The thread that owns a database file: it takes all requests that wait, answers the reads, and makes the writes durable by one commit.
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { StoreError } from "../../ports/versioned-table.ts";
import { type OpenedDatabase, openDatabase } from "./sqlite-database.ts";
import { troubleOf } from "./sqlite-faults.ts";
import { type Operations, operationsOn } from "./sqlite-operations.ts";
import {
  type Fault,
  type FromThread,
  type Request,
  type Settled,
  type StoreOptions,
  type ToThread,
  writingOperations,
} from "./sqlite-requests.ts";

interface Numbered {
  id: number;
  request: Request;
}

const COMMIT_REQUESTS = 4096; // requests that share a commit at most; those which came later are then not kept waiting by them

const port = parentPort!;
const options = workerData as StoreOptions;
const opened = open();
if (opened !== undefined) {
  const operations = operationsOn(opened.database, options.folder);
  port.on("message", (first: ToThread) => {
    const { requests, closing } = waiting(first);
    serve(opened, operations, requests);
    if (closing) close(opened);
  });
  tell({ kind: "opened" });
}

function open(): OpenedDatabase | undefined {
  try {
    return openDatabase(options);
  } catch (error) {
    tell({ kind: "refused", fault: faultOf(error) });
    port.close();
    return undefined;
  }
}

/** `first` and what came behind it. */
function waiting(first: ToThread): { requests: Numbered[]; closing: boolean } {
  const requests: Numbered[] = [];
  for (let message: ToThread | undefined = first; message !== undefined; message = received()) {
    if (message.kind === "close") return { requests, closing: true };
    const { firstId } = message;
    for (const [index, request] of message.requests.entries()) requests.push({ id: firstId + index, request });
    if (requests.length >= COMMIT_REQUESTS) break;
  }
  return { requests, closing: false };
}

function received(): ToThread | undefined {
  return receiveMessageOnPort(port)?.message as ToThread | undefined;
}

/** Reads are answered first, from what is committed: their callers go on while the disk is written. */
function serve({ database }: OpenedDatabase, operations: Operations, requests: readonly Numbered[]): void {
  const reads = requests.filter(({ request }) => !writingOperations.has(request.operation));
  if (reads.length > 0) tell({ kind: "settled", settled: reads.map((read) => carryOut(read)), transactions: 0 });
  const writes = requests.filter(({ request }) => writingOperations.has(request.operation));
  if (writes.length > 0) tell({ kind: "settled", settled: commit(writes), transactions: 1 });

  function commit(writes: readonly Numbered[]): Settled[] {
    const effects: (() => void)[] = [];
    try {
      database.exec("BEGIN IMMEDIATE");
      const settled = writes.map((write) => carryOut(write, (effect) => effects.push(effect)));
      database.exec("COMMIT");
      for (const effect of effects) effect();
      return settled;
    } catch (error) {
      rollBack();
      return writes.map(({ id }) => ({ id, fault: faultOf(error) }));
    }
  }

  /** A statement that fails undoes itself alone. Throws where the whole transaction is lost, or cannot be trusted. */
  function carryOut({ id, request }: Numbered, afterCommit?: (effect: () => void) => void): Settled {
    try {
      const operation = operations[request.operation] as (request: Request, afterCommit: unknown) => unknown;
      return { id, answer: operation(request, afterCommit) };
    } catch (error) {
      if (afterCommit !== undefined && (!database.isTransaction || troubleOf(error, options.folder).reach === "store"))
        throw error;
      return { id, fault: faultOf(error) };
    }
  }

  function rollBack(): void {
    try {
      if (database.isTransaction) database.exec("ROLLBACK");
    } catch {
      // The next BEGIN fails, too, and its writes are told so.
    }
  }
}

function close(opened: OpenedDatabase): void {
  try {
    opened.close();
  } finally {
    port.close();
  }
}

function faultOf(error: unknown): Fault {
  const told = error instanceof StoreError ? error : troubleOf(error, options.folder).error;
  return { message: told.message, final: told.final, cause: told.cause };
}

function tell(message: FromThread): void {
  port.postMessage(message);
}
