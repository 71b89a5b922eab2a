// What does an error of SQLite or of the file system mean to the people who run a crawl? One line that names the folder and what to do.
import { StoreError } from "../../ports/versioned-table.ts";

/** `store`: nothing of the commit under way can be kept. `request`: only the request that met it fails. */
export interface Trouble {
  reach: "store" | "request";
  error: StoreError;
}

interface Meaning {
  line: (folder: string) => string;
  final: boolean;
}

// To wait for space or handles would be to go on asking hosts for what cannot be kept; what was acknowledged stands, and the next start
// goes on.
const full: Meaning = {
  line: (folder) => `no space is left on the disk of ${folder}: free some, then start again`,
  final: true,
};
const handles: Meaning = {
  line: (folder) => `no file handles are left for ${folder}: raise ulimit -n, or lower --fetchers, then start again`,
  final: true,
};
const unwritable: Meaning = {
  line: (folder) =>
    `${folder} cannot be written: check that it is a folder in which this user may create and change files, and that file handles are left (ulimit -n)`,
  final: true,
};
const damaged: Meaning = {
  line: (folder) => `${folder}/state.sqlite is damaged: restore it from a copy, or choose another folder`,
  final: true,
};
const foreign: Meaning = {
  line: (folder) => `${folder}/state.sqlite is not a database of this program: move it away, or choose another folder`,
  final: true,
};
const busy: Meaning = {
  line: (folder) => `${folder}/state.sqlite is kept locked by another program: end that program, or wait`,
  final: false,
};
// After a failed write or sync nobody knows what the disk holds, so going on would build on sand; opening anew recovers what was committed.
const disk: Meaning = {
  line: (folder) => `the disk of ${folder} fails to read or write: check it, then start again`,
  final: true,
};
const memory: Meaning = {
  line: (folder) => `no memory is left for the store in ${folder}: give the process more`,
  final: false,
};

/** Primary result codes of SQLite: https://www.sqlite.org/rescode.html. The others concern one request only. */
const byResultCode: Readonly<Record<number, Meaning>> = {
  1: damaged, // ERROR: our statements are fixed, so it is the tables that are not as we made them
  3: unwritable, // PERM
  5: busy, // BUSY
  6: busy, // LOCKED
  7: memory, // NOMEM
  8: unwritable, // READONLY
  10: disk, // IOERR
  11: damaged, // CORRUPT
  13: full, // FULL
  14: unwritable, // CANTOPEN
  26: foreign, // NOTADB
};

const byErrno: Readonly<Record<string, Meaning>> = {
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: full, // the system's limit on the size of a file
  EMFILE: handles,
  ENFILE: handles,
  EACCES: unwritable,
  EPERM: unwritable,
  EROFS: unwritable,
  EEXIST: unwritable,
  ENOTDIR: unwritable,
  EIO: disk,
};

/** Never throws. A StoreError stays what it is. */
export function troubleOf(error: unknown, folder: string): Trouble {
  if (error instanceof StoreError) return { reach: error.final ? "store" : "request", error };
  const { code, errcode, message } = (error ?? {}) as { code?: string; errcode?: number; message?: string };
  const meaning = errcode === undefined ? byErrno[code ?? ""] : byResultCode[errcode & 0xff];
  const detail = `${message ?? String(error)}${errcode === undefined ? "" : `, SQLite code ${errcode}`}`;
  if (meaning !== undefined) {
    const line = `${meaning.line(folder)} (${detail})`;
    return { reach: "store", error: new StoreError(line, { final: meaning.final, cause: error }) };
  }
  return { reach: "request", error: new StoreError(`the store in ${folder} refused a request: ${detail}`, { cause: error }) };
}

/** What the system says of a file below the folder, where that means more than that one operation failed. */
export function systemTrouble(error: unknown, folder: string): StoreError | undefined {
  const { code, errcode } = (error ?? {}) as { code?: string; errcode?: number };
  return errcode === undefined && code !== undefined && byErrno[code] !== undefined
    ? troubleOf(error, folder).error
    : undefined;
}

/** A row whose bytes are not those that were written. */
export function damagedRow(folder: string, where: string): StoreError {
  return new StoreError(`${damaged.line(folder)} (${where} is not what was written)`, { final: damaged.final });
}

export function guestThere(folder: string): StoreError {
  return new StoreError(`another daily run works on ${folder}: wait for its end`, { final: true });
}

export function inUse(folder: string): StoreError {
  return new StoreError(`${folder} is in use by another process: wait until it ends, or choose another folder`, {
    final: true,
  });
}

export function otherVersion(folder: string, found: string, expected: number): StoreError {
  const line = `${folder} was made by another version of this program (its data has format ${JSON.stringify(found)}, this one reads ${expected}): use that version, or choose another folder`;
  return new StoreError(line, { final: true });
}

export function notOurs(folder: string): StoreError {
  return new StoreError(foreign.line(folder), { final: true });
}

export function nothingThere(folder: string): StoreError {
  return new StoreError(`${folder} holds no crawl: check the name of the folder`, { final: true });
}

/** SQLite's write-ahead log needs memory shared between processes, which network file systems do not give. */
export function noSharedMemory(folder: string): StoreError {
  return new StoreError(`${folder} lies on a file system without shared memory: choose a folder on a local disk`, {
    final: true,
  });
}
