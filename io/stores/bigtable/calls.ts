// How is Bigtable called? Each call with a time of its own, no retry below us, a bound on how many are out, and a count of each.
import type { Bigtable } from "@google-cloud/bigtable";
import type { Metrics } from "../../../ports/metrics.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import { PROJECT_UNKNOWN } from "./client.ts";
import { codeOf, type Place, status, statusName } from "./faults.ts";
import { type ReadChunk, rowReader, type StoredRow } from "./read-chunks.ts";
import { slots } from "./slots.ts";

export interface BigtableOptions {
  /** Of bigtableClient(), whose app profile must route to a single cluster. */
  client: Pick<Bigtable, "projectId" | "appProfileId" | "auth" | "customEndpoint" | "request">;
  instance: string;
  /** Of the names of this crawl's tables: `<prefix>-urls`. */
  tablePrefix: string;
  metrics?: Metrics;
  /** Tests wait less. */
  patience?: Partial<Patience>;
}

export interface Patience {
  /** One call. */
  callMs: number;
  /** One operation of a table on one row or one read, with all that it repeats. */
  operationMs: number;
  /** Before an operation repeats its first call; doubles with each. */
  pauseMs: number;
  /** Calls that one operation sends for the same thing at most. */
  tries: number;
}

const PATIENCE: Patience = {
  callMs: 5_000, // a thousand times the median of a small call; the client's own 20 s would outlast the window of an admit by far
  operationMs: 20_000, // less than an entry in flight lives (limits.requestMs and its grace)
  pauseMs: 25,
  tries: 9, // pauses of 25 ms to 3.2 s, 6 s in all: a tablet that moves is away for a fraction, and a crawl that gives up rests its hosts for a minute
};

/** Calls that are out at once for all tables of a client: half the streams that its four channels may carry (100 each). */
const CALLS_MAX = 200;

export interface Calls {
  place(table: string): Place;
  patience: Patience;
  /** Rows with one cell each, in order. Rejects with what the client says. */
  readRows(table: string, ask: ReadAsk, timeoutMs: number): Promise<StoredRow[]>;
  /** Whether `predicate` let a cell of the row through. Rejects with what the client says; then it may or may not have happened. */
  checkAndMutate(table: string, ask: CheckAsk, timeoutMs: number): Promise<boolean>;
  /** gRPC's code for each entry, in order. Rejects with what the client says; then any of them may or may not have happened. */
  mutateRows(table: string, entries: readonly MutateEntry[], timeoutMs: number): Promise<number[]>;
  administer(method: AdminMethod, request: object, timeoutMs: number): Promise<unknown>;
  count(name: string, labels: Readonly<Record<string, string>>): void;
}

/** google.bigtable.v2.RowSet, and how many rows at most. */
export interface ReadAsk {
  rows: { rowKeys: Buffer[] } | { rowRanges: { startKeyClosed: Buffer; endKeyOpen: Buffer }[] };
  rowsLimit?: number;
}

/** Of google.bigtable.v2.CheckAndMutateRowRequest. */
export interface CheckAsk {
  rowKey: Buffer;
  predicateFilter: object;
  trueMutations?: object[];
  falseMutations?: object[];
}

/** Of google.bigtable.v2.MutateRowsRequest; no two of a call for one row, since their order is not kept. */
export interface MutateEntry {
  rowKey: Buffer;
  mutations: object[];
}

export type AdminMethod = "createTable" | "getTable" | "modifyColumnFamilies";

/** Of the one cell of a row the latest, should there ever be two. */
export const LATEST_CELL = { cellsPerColumnLimitFilter: 1 };

export function bigtableCalls(options: BigtableOptions): Calls {
  const { client, instance, tablePrefix, metrics } = options;
  const patience = { ...PATIENCE, ...options.patience };
  const project = `projects/${client.projectId}/instances/${instance}`;
  const fullName = (table: string): string => `${project}/tables/${tableId(tablePrefix, table)}`;
  const routed = (table: string) => ({ tableName: fullName(table), appProfileId: client.appProfileId });

  const counted = countedCalls(client, metrics);

  return {
    patience,
    place: (table) => ({
      // Asked when it is told: the client may yet find it out.
      get project() {
        return projectName(client.projectId);
      },
      instance,
      table: tableId(tablePrefix, table),
    }),
    readRows: (table, ask, timeoutMs) =>
      counted("ReadRows", () => rowsOf(client, { ...routed(table), ...ask, filter: LATEST_CELL }, timeoutMs)),
    mutateRows: (table, entries, timeoutMs) =>
      counted("MutateRows", () => codesOf(client, { ...routed(table), entries }, timeoutMs)),
    checkAndMutate: (table, ask, timeoutMs) =>
      counted("CheckAndMutateRow", async () => {
        const call = { client: "BigtableClient", method: "checkAndMutateRow", reqOpts: { ...routed(table), ...ask } };
        return ((await answered(client, call, timeoutMs)) as { predicateMatched: boolean }).predicateMatched;
      }),
    administer: (method, request, timeoutMs) =>
      counted(method, () => answered(client, { client: "BigtableTableAdminClient", method, reqOpts: request }, timeoutMs)),
    count: (name, labels) => metrics?.count(name, 1, labels),
  };
}

/** Runs a call when a slot of the client is free, and counts it. */
function countedCalls(client: object, metrics: Metrics | undefined) {
  return <T>(method: string, call: () => Promise<T>): Promise<T> =>
    slotsOf(client).run(async () => {
      const begun = performance.now();
      let outcome: number | undefined = status.ok;
      try {
        return await call();
      } catch (error) {
        outcome = codeOf(error);
        throw error;
      } finally {
        metrics?.count("gleaner_bigtable_calls_total", 1, { method, outcome: statusName(outcome) });
        metrics?.observe("gleaner_bigtable_call_ms", performance.now() - begun, { method });
      }
    });
}

/** https://cloud.google.com/bigtable/docs/reference/admin/rest/v2/projects.instances.tables: up to 50 of these. */
export function tableId(prefix: string, table: string): string {
  const id = prefix === "" ? table : `${prefix}-${table}`;
  if (!/^[_a-zA-Z0-9][-_.a-zA-Z0-9]{0,49}$/.test(id))
    throw new StoreError(
      `'${id}' is not a name for a table of Bigtable: choose a prefix of letters, digits and dashes, 50 characters with the name`,
      { final: true },
    );
  return id;
}

export function instanceName({ client, instance }: Pick<BigtableOptions, "client" | "instance">): string {
  return `projects/${client.projectId}/instances/${instance}`;
}

interface ClientCall {
  client: string;
  method: string;
  reqOpts: object;
}

/** `retry: null` turns the client's own repeats off for this call, whatever its configuration says. */
function answered(client: BigtableOptions["client"], call: ClientCall, timeoutMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    client.request({ ...call, gaxOpts: { timeout: timeoutMs, retry: null } }, (error: unknown, answer: unknown) =>
      error ? reject(error) : resolve(answer),
    );
  });
}

/** The client's own reader of rows takes a call that the server cancelled for one that ended: rows would be missing without a word. */
function rowsOf(client: BigtableOptions["client"], reqOpts: object, timeoutMs: number): Promise<StoredRow[]> {
  const reader = rowReader();
  return streamed(client, { method: "readRows", reqOpts, timeoutMs }, ({ chunks }: { chunks: ReadChunk[] }) => {
    for (const chunk of chunks) reader.take(chunk);
  }).then(() => {
    const rows = reader.rows();
    if (rows === undefined) throw new Error("the answer ended within a row");
    return rows;
  });
}

interface Told {
  entries: { index: number | string; status: { code: number } | null }[];
}

function codesOf(
  client: BigtableOptions["client"],
  reqOpts: { entries: readonly MutateEntry[] },
  timeoutMs: number,
): Promise<number[]> {
  const codes = reqOpts.entries.map((): number => status.unknown); // what is not told of is not known
  return streamed(client, { method: "mutateRows", reqOpts, timeoutMs }, ({ entries }: Told) => {
    for (const { index, status: ended } of entries) codes[Number(index)] = ended?.code ?? status.ok;
  }).then(() => codes);
}

/** Resolves when the answer has ended well. */
function streamed<M>(
  client: BigtableOptions["client"],
  { timeoutMs, ...call }: { method: string; reqOpts: object; timeoutMs: number },
  take: (message: M) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = client.request({
      ...call,
      client: "BigtableClient",
      gaxOpts: { timeout: timeoutMs, retry: null },
      retryOpts: NO_RETRIES,
    });
    let over = false;
    const fail = (error: unknown): void => {
      if (over) return;
      over = true;
      reject(error);
      stream.abort();
    };
    stream.on("error", fail);
    stream.on("close", () => fail(new Error("the answer was cut off")));
    stream.on("data", (message: M) => {
      try {
        take(message);
      } catch (cause) {
        fail(new StoreError(`an answer of Bigtable cannot be read: ${(cause as Error).message}`, { final: true, cause }));
      }
    });
    stream.on("end", () => {
      over = true;
      resolve();
    });
  });
}

/** The client hands a stream to retry-request, which would repeat it twice by default. */
const NO_RETRIES = { retries: 0, noResponseRetries: 0, currentRetryAttempt: 0, shouldRetryFn: () => false };

const slotsByClient = new WeakMap<object, ReturnType<typeof slots>>();

function slotsOf(client: object): ReturnType<typeof slots> {
  const found = slotsByClient.get(client) ?? slots(CALLS_MAX);
  slotsByClient.set(client, found);
  return found;
}

function projectName(projectId: string): string {
  return projectId === PROJECT_UNKNOWN ? "(default)" : projectId;
}
