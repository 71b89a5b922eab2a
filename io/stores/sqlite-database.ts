// How is the database file of a data folder opened so that one process writes, others read, and nothing is left behind when it cannot be?
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StoreError } from "../../ports/versioned-table.ts";
import {
  damagedRow,
  guestThere,
  inUse,
  noSharedMemory,
  nothingThere,
  notOurs,
  otherVersion,
  troubleOf,
} from "./sqlite-faults.ts";
import type { Durability, StoreOptions } from "./sqlite-requests.ts";

/** The shape of a data folder. A program opens only folders of its own version. */
const DATA_VERSION = 2; // 1 had no checksums

/** The key in `meta` that holds it. */
export const FORMAT_KEY = "format";

const CACHE_KIB = 16 * 1024; // pages in memory, for the hosts at work; the system keeps the rest of the file. With 64 MiB a crawl of 100,000 pages grew by a quarter
const CHECKPOINT_PAGES = 4096; // 16 MiB of write-ahead log: a hot page is written back once per checkpoint, not once per commit
const WAL_BYTES_KEPT = 64 * 1024 * 1024; // the log is cut to this after a reader let it grow
const BUSY_MS = 5000; // waits for another program's lock, which lasts as long as a checkpoint

const LOCK_MS = 250; // tools hold lock.sqlite for an instant to learn whether a crawl runs; a crawl holds it for hours

const synchronous: Record<Durability, string> = { power: "FULL", process: "NORMAL" };

export interface OpenedDatabase {
  database: DatabaseSync;
  /** Folds the log into the file and gives the folder free. */
  close(): void;
}

/** Makes the folder where there is none. Throws StoreError, and then has changed nothing. */
export function openDatabase(options: StoreOptions): OpenedDatabase {
  const { folder, tables, queues, durability, guest = false, busyMs = BUSY_MS } = options;
  const undo: (() => void)[] = [];
  try {
    if (guest && !existsSync(stateFile(folder))) throw nothingThere(folder);
    makeFolder(folder, undo);
    const lock = takeLock(folder, guest ? locks.guest : locks.owner, undo);
    refuseStump(folder);
    const database = openFile(stateFile(folder), busyMs, undo);
    if (guest || !isEmpty(database)) checkFormat(database, folder);
    checkPages(database, folder);
    prepare(database, durability, folder);
    createTables(database, tables, queues);
    return {
      database,
      close() {
        database.close();
        lock.close();
      },
    };
  } catch (error) {
    for (const step of undo.reverse()) attempt(step);
    throw troubleOf(error, folder).error;
  }
}

/** Reads beside a process that writes, or after it. Throws StoreError. */
export function openDatabaseToRead(folder: string): DatabaseSync {
  if (!existsSync(stateFile(folder))) throw nothingThere(folder);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(stateFile(folder), { readOnly: true, timeout: BUSY_MS });
    checkFormat(database, folder);
    return database;
  } catch (error) {
    database?.close();
    throw troubleOf(error, folder).error;
  }
}

/** As a name in SQL. Names come from the wiring; another one is our own mistake. */
export function sqlName(kind: "table" | "queue" | "aside", name: string): string {
  if (!/^[a-z][a-zA-Z0-9_-]*$/.test(name)) throw new Error(`'${name}' is not a name for a ${kind}`);
  return `"${kind}_${name}"`;
}

function stateFile(folder: string): string {
  return join(folder, "state.sqlite");
}

function makeFolder(folder: string, undo: (() => void)[]): void {
  const missing: string[] = [];
  for (let each = resolve(folder); !existsSync(each); each = dirname(each)) missing.unshift(each);
  // One after another: Node's recursive mkdir never ends where a file system lets nobody make folders (/proc).
  for (const made of missing) {
    mkdirSync(made);
    undo.push(() => rmdirSync(made));
    // A new folder's name is kept by the folder above it, which needs a sync of its own.
    const above = openSync(dirname(made), "r");
    fsyncSync(above);
    closeSync(above);
  }
  if (missing.length === 0) mkdirSync(folder, { recursive: true }); // what stands there must be a folder
}

/**
 * An open exclusive transaction on a second, empty database: the system drops its lock when the process ends, however it ends, and
 * nobody who reads state.sqlite meets it.
 */
function takeLock(folder: string, { name, taken }: Lock, undo: (() => void)[]): DatabaseSync {
  const file = join(folder, name);
  if (!existsSync(file)) undo.push(() => rmSync(file, { force: true }));
  const lock = new DatabaseSync(file, { timeout: LOCK_MS });
  undo.push(() => lock.close());
  try {
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    undo.splice(0); // all that stands there is another's
    lock.close();
    throw taken(folder);
  }
  return lock;
}

interface Lock {
  name: string;
  taken: (folder: string) => StoreError;
}

const locks = {
  owner: { name: "lock.sqlite", taken: inUse },
  guest: { name: "guest.sqlite", taken: guestThere },
} as const satisfies Record<string, Lock>;

const SQLITE_BUSY = 5;

function openFile(file: string, busyMs: number, undo: (() => void)[]): DatabaseSync {
  if (!existsSync(file)) undo.push(() => ["", "-wal", "-shm"].forEach((end) => void rmSync(file + end, { force: true })));
  const database = new DatabaseSync(file, { timeout: busyMs });
  undo.push(() => database.close());
  return database;
}

/** SQLite takes a file without one whole page for a new database, and would write over what is left of a crawl. */
function refuseStump(folder: string): void {
  const bytes = statSync(stateFile(folder), { throwIfNoEntry: false })?.size ?? 0;
  if (bytes > 0 && bytes < PAGE_BYTES) throw damagedRow(folder, `its one page, of ${bytes} bytes,`);
}

const PAGE_BYTES = 4096; // SQLite's default, and so that of every database we make

/** Also true of what a process left that was killed before its first commit. */
function isEmpty(database: DatabaseSync): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
}

function checkFormat(database: DatabaseSync, folder: string): void {
  if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get() === undefined) throw notOurs(folder);
  const row = database.prepare("SELECT value FROM meta WHERE key = ?").get(FORMAT_KEY);
  if (row === undefined) throw notOurs(folder);
  if (row.value !== String(DATA_VERSION)) throw otherVersion(folder, String(row.value), DATA_VERSION);
}

/** A damaged page may hide rows without a word: a host record that is not found is a host that is asked too early. */
function checkPages(database: DatabaseSync, folder: string): void {
  const { bytes } = database.prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size").get()!;
  if (Number(bytes) > CHECKED_BYTES) return;
  const found = database.prepare("PRAGMA quick_check(1)").get()?.quick_check;
  if (found !== "ok") throw damagedRow(folder, String(found).replaceAll("\n", " "));
}

const CHECKED_BYTES = 256 * 1024 * 1024; // read within half a second; of a larger one each page is checked when it is met

function prepare(database: DatabaseSync, durability: Durability, folder: string): void {
  const mode = database.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode;
  if (mode !== "wal") throw noSharedMemory(folder);
  database.exec(`
    PRAGMA synchronous = ${synchronous[durability]};
    PRAGMA cache_size = -${CACHE_KIB};
    PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
    PRAGMA journal_size_limit = ${WAL_BYTES_KEPT};
  `);
}

function createTables(database: DatabaseSync, tables: readonly string[], queues: readonly string[]): void {
  const columns = "key TEXT PRIMARY KEY NOT NULL, rev TEXT NOT NULL, value BLOB NOT NULL";
  database.exec(`
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL, seal BLOB) WITHOUT ROWID;
    INSERT INTO meta VALUES ('${FORMAT_KEY}', '${DATA_VERSION}', NULL) ON CONFLICT DO NOTHING;
    ${tables.map((name) => `CREATE TABLE IF NOT EXISTS ${sqlName("table", name)} (${columns}) WITHOUT ROWID;`).join("\n")}
    ${queues.map((name) => `CREATE TABLE IF NOT EXISTS ${sqlName("queue", name)} (id INTEGER PRIMARY KEY AUTOINCREMENT, body BLOB NOT NULL);`).join("\n")}
    ${queues.map((name) => `CREATE TABLE IF NOT EXISTS ${sqlName("aside", name)} (id INTEGER PRIMARY KEY, body BLOB NOT NULL);`).join("\n")}
    COMMIT;
  `);
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // What cannot be undone stays; the error that is being reported says why.
  }
}
