// What do a store and the thread that owns its database say to each other? Requests, their answers, and the messages that carry them.
import type { QueueMessage } from "../../ports/queue.ts";
import type { Row } from "../../ports/versioned-table.ts";
import type { RowKey } from "../../schemas/row-key.ts";

/** "power": a commit survives a power cut. "process": it survives the process, and a power cut may take the last ones. */
export type Durability = "power" | "process";

export interface StoreOptions {
  folder: string;
  tables: readonly string[];
  queues: readonly string[];
  durability: Durability;
  /**
   * Beside the process that owns the folder, or without one: what stands there is opened, nothing is made. One guest at a time. Its commits
   * wait for those of the owner, and the owner's for them.
   */
  guest?: boolean;
  /** How long another program's lock on the file is waited for; for tests. */
  busyMs?: number;
}

interface Exchange {
  get: { ask: { table: string; keys: readonly RowKey[] }; answer: (Row | undefined)[] };
  scan: { ask: { table: string; range: { from: RowKey; to: RowKey; limit: number } }; answer: Row[] };
  insertIfAbsent: { ask: { table: string; rows: readonly Row[] }; answer: boolean[] };
  compareAndSet: { ask: { table: string; row: Row; expectedRev: string }; answer: boolean };
  delete: { ask: { table: string; rows: readonly { key: RowKey; rev?: string }[] }; answer: boolean[] };
  put: { ask: { table: string; rows: readonly Row[] }; answer: undefined };
  drop: { ask: { table: string; keys: readonly RowKey[] }; answer: undefined };
  publish: { ask: { queue: string; bodies: readonly Uint8Array[] }; answer: undefined };
  pull: { ask: { queue: string; max: number }; answer: QueueMessage[] };
  acknowledge: { ask: { queue: string; ids: readonly string[] }; answer: undefined };
  setAside: { ask: { queue: string; ids: readonly string[] }; answer: undefined };
  release: { ask: { queue: string; ids: readonly string[] }; answer: undefined };
  depth: { ask: { queue: string }; answer: number };
  getMeta: { ask: { key: string }; answer: string | undefined };
  setMeta: { ask: { key: string; value: string }; answer: undefined };
}

export type Operation = keyof Exchange;
export type RequestOf<O extends Operation> = { [K in O]: { operation: K } & Exchange[K]["ask"] }[O];
export type Request = RequestOf<Operation>;
export type AnswerOf<O extends Operation> = Exchange[O]["answer"];

/** What becomes durable by a commit, and is answered after it. All else is answered at once, from what is committed. */
export const writingOperations: ReadonlySet<Operation> = new Set([
  "insertIfAbsent",
  "compareAndSet",
  "delete",
  "put",
  "drop",
  "publish",
  "acknowledge",
  "setAside",
  "setMeta",
]);

/** A StoreError on its way between threads. */
export interface Fault {
  message: string;
  final: boolean;
  cause?: unknown;
}

/** The requests of a message are numbered from `firstId` on, in order. */
export type ToThread = { kind: "requests"; firstId: number; requests: Request[] } | { kind: "close" };

export type FromThread =
  | { kind: "opened" }
  | { kind: "refused"; fault: Fault }
  | { kind: "settled"; settled: Settled[]; transactions: number };

export type Settled = { id: number; answer: unknown } | { id: number; fault: Fault };
