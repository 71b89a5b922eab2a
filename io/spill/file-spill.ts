// Runs on disk: a folder of its own for each job, a file a run, and a checksum before each chunk, so that a damaged run is no quiet loss.
import { closeSync, fstatSync, mkdirSync, mkdtempSync, openSync, readdirSync, readSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Log } from "../../ports/log.ts";
import { type Run, type RunReader, type RunWriter, type Spill, SpillError } from "../../ports/spill.ts";

export interface FileSpill extends Spill {
  readonly folder: string;
}

/** Of a chunk: its bytes and its CRC-32, each as four bytes, the lowest first. */
const HEAD_BYTES = 8;
const PREFIX = "spill-";

/**
 * In a new folder under `parent`, which is made where it is missing, and belongs to this machine alone: what processes left there that are
 * no more is removed. Throws SpillError.
 */
export function openFileSpill(parent: string, log: Log): FileSpill {
  const folder = guarded(parent, () => {
    mkdirSync(parent, { recursive: true });
    for (const name of readdirSync(parent)) if (isLeft(name)) rmSync(join(parent, name), { recursive: true, force: true });
    return mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  });
  let count = 0;
  return {
    folder,
    begin: () => beginRun(folder, join(folder, `run-${count++}`)),
    removeAll() {
      try {
        rmSync(folder, { recursive: true, force: true });
      } catch (error) {
        log("warn", "the folder of what was spilled stays", { folder, error });
      }
    },
  };
}

/** A folder of ours whose process has ended. */
function isLeft(name: string): boolean {
  const owner = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
  if (owner === undefined) return false;
  try {
    process.kill(Number(owner), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

function beginRun(folder: string, path: string): RunWriter {
  const file = guarded(folder, () => openSync(path, "w"));
  const head = Buffer.alloc(HEAD_BYTES);
  let size = 0;
  let bytes = 0;
  return {
    append(chunk) {
      head.writeUInt32LE(chunk.length, 0);
      head.writeUInt32LE(crc32(chunk), 4);
      guarded(folder, () => {
        writeAll(file, head);
        writeAll(file, chunk);
      });
      size += HEAD_BYTES + chunk.length;
      bytes += chunk.length;
    },
    end() {
      guarded(folder, () => closeSync(file));
      return openedRun({ folder, path, size, bytes });
    },
    abandon: () =>
      guarded(folder, () => {
        closeSync(file);
        rmSync(path, { force: true });
      }),
  };
}

interface Written {
  folder: string;
  path: string;
  /** Of the file. */
  size: number;
  bytes: number;
}

function openedRun(written: Written): Run {
  const { folder, path, bytes } = written;
  return {
    bytes,
    read: (from = 0) => readRun(written, from),
    remove: () => guarded(folder, () => rmSync(path, { force: true })),
  };
}

function readRun({ folder, path, size }: Written, from: number): RunReader {
  const file = guarded(folder, () => openSync(path, "r"));
  const damaged = (what: string) => new SpillError("damaged", `${path}: a run is damaged: ${what}`);
  const head = Buffer.alloc(HEAD_BYTES);
  let next = from;
  let at = from;
  let open = true;
  const close = () => {
    if (open) guarded(folder, () => closeSync(file));
    open = false;
  };
  if (guarded(folder, () => fstatSync(file).size) !== size) {
    close();
    throw damaged("it is longer or shorter than it was written");
  }
  return {
    get at() {
      return at;
    },
    next() {
      if (next >= size) return undefined;
      at = next;
      if (!readAll(folder, file, head, at)) throw damaged("it ends early");
      const length = head.readUInt32LE(0);
      next = at + HEAD_BYTES + length;
      if (next > size) throw damaged(`a chunk of ${length} bytes`);
      const chunk = Buffer.allocUnsafeSlow(length);
      if (!readAll(folder, file, chunk, at + HEAD_BYTES)) throw damaged("it ends early");
      if (crc32(chunk) !== head.readUInt32LE(4)) throw damaged("a checksum is wrong");
      return chunk;
    },
    close,
  };
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

/** Whether there were as many bytes as the buffer holds. */
function readAll(folder: string, file: number, into: Buffer, at: number): boolean {
  for (let done = 0; done < into.length; ) {
    const read = guarded(folder, () => readSync(file, into, done, into.length - done, at + done));
    if (read === 0) return false;
    done += read;
  }
  return true;
}

/** Disk and quota are full. */
const FULL: readonly string[] = ["ENOSPC", "EDQUOT"];

function guarded<T>(folder: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (FULL.includes((cause as NodeJS.ErrnoException).code ?? ""))
      throw new SpillError("full", `${folder}: no room is left on the disk for what does not fit into memory`, { cause });
    throw new SpillError(
      "failed",
      `${folder}: what does not fit into memory cannot be kept there: ${(cause as Error).message}`,
      {
        cause,
      },
    );
  }
}
