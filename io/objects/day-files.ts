// How are a day's files read and written on one disk? Streaming, and a new file appears whole or not at all: written beside, synced, renamed.
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import type { DayFiles, WrittenFile } from "../../ports/day-files.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { systemTrouble } from "../stores/sqlite-faults.ts";
import { realFiles, syncFolders } from "./file-layer.ts";
import { digestOf, isPacked, type LinesIn, linesOf, measureOf, writeLinesInto } from "./line-streams.ts";

/** Beside a file until it is whole; what a dead process left is written over. */
const UNFINISHED = ".new";

/** `folder`: the crawl's data directory. One process writes a name at a time. */
export function localDayFiles(folder: string): DayFiles {
  const bytesOf = (name: string) => createReadStream(join(folder, name));
  const told = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      throw troubleOf(cause, join(folder, name));
    }
  };
  return {
    list: (below) => told(below, () => filesIn(folder, join(folder, below))),
    async *lines(name) {
      try {
        yield* linesOf(bytesOf(name), readAs(name));
      } catch (cause) {
        throw troubleOf(cause, join(folder, name));
      }
    },
    writeLines: (name, lines) => told(name, () => write(folder, name, lines)),
    measure: (name) => told(name, () => unlessAbsent(name, measureOf(bytesOf(name), readAs(name)))),
    digest: (name) => told(name, () => unlessAbsent(name, digestOf(bytesOf(name)))),
    remove: (name) => told(name, () => rm(join(folder, name), { force: true })),
  };
}

/** A crawl writes on what it has open, and a dead one may have left half a line. */
function readAs(name: string): LinesIn {
  return { packed: isPacked(name), whole: false };
}

function troubleOf(cause: unknown, path: string): StoreError {
  if (cause instanceof StoreError) return cause;
  return systemTrouble(cause, path) ?? new StoreError(`cannot read or write ${path}`, { cause });
}

async function filesIn(base: string, folder: string): Promise<{ name: string; bytes: number }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => {
    if (isAbsent(error)) return [];
    throw error;
  });
  const found = entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith(UNFINISHED))
    .map((entry) => join(entry.parentPath, entry.name));
  const files = await Promise.all(
    found.map(async (path) => ({
      name: relative(base, path).split(sep).join("/"),
      bytes: await stat(path).then(
        ({ size }) => size,
        (error) => (isAbsent(error) ? undefined : Promise.reject(error)),
      ),
    })),
  );
  return files
    .flatMap(({ name, bytes }) => (bytes === undefined ? [] : [{ name, bytes }]))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

async function write(base: string, name: string, lines: Iterable<string> | AsyncIterable<string>): Promise<WrittenFile> {
  const path = join(base, name);
  const firstMade = await mkdir(dirname(path), { recursive: true });
  const file = await open(path + UNFINISHED, "w");
  let written: Omit<WrittenFile, "name">;
  try {
    written = await writeLinesInto({ file, packed: isPacked(name) }, lines);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(path + UNFINISHED, path);
  await syncFolders(realFiles, dirname(path), base, firstMade);
  return { name, ...written };
}

async function unlessAbsent<T extends object>(name: string, work: Promise<T>): Promise<(T & { name: string }) | undefined> {
  try {
    return { name, ...(await work) };
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
