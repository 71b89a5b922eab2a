// How are a day's files read and written on one disk? Streaming, and a new file appears whole or not at all: written beside, synced, renamed.
import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StringDecoder } from "node:string_decoder";
import { createGunzip, createGzip } from "node:zlib";
import type { DayFiles, WrittenFile } from "../../ports/day-files.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { systemTrouble } from "../stores/sqlite-faults.ts";
import { realFiles, syncFolders } from "./file-layer.ts";
import { COMPRESSION_LEVEL } from "./gzip-members.ts";

const CHUNK_CHARS = 64 * 1024; // of lines that are written at once
/** Beside a file until it is whole; what a dead process left is written over. */
const UNFINISHED = ".new";

/** `folder`: the crawl's data directory. One process writes a name at a time. */
export function localDayFiles(folder: string): DayFiles {
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
        yield* linesOf(join(folder, name));
      } catch (cause) {
        throw troubleOf(cause, join(folder, name));
      }
    },
    writeLines: (name, lines) => told(name, () => write(folder, name, lines)),
    measure: (name) => told(name, () => measured(folder, name)),
    digest: (name) => told(name, () => digestOf(folder, name)),
    remove: (name) => told(name, () => rm(join(folder, name), { force: true })),
  };
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

async function* linesOf(path: string): AsyncGenerator<string[]> {
  const bytes = createReadStream(path);
  const text = path.endsWith(".gz") ? bytes.pipe(createGunzip()) : bytes;
  if (text !== bytes) bytes.on("error", (error) => text.destroy(error));
  const decoder = new StringDecoder("utf8");
  let rest = "";
  try {
    for await (const chunk of text) {
      const lines = (rest + decoder.write(chunk)).split("\n");
      rest = lines.pop()!;
      if (lines.length > 0) yield lines;
    }
  } finally {
    bytes.destroy();
  }
}

async function write(base: string, name: string, lines: Iterable<string> | AsyncIterable<string>): Promise<WrittenFile> {
  const path = join(base, name);
  const firstMade = await mkdir(dirname(path), { recursive: true });
  const file = await open(path + UNFINISHED, "w");
  const seen = { rows: 0, bytes: 0, hash: createHash("sha256") };
  try {
    const text = Readable.from(chunksOf(lines, seen));
    const sink = (chunks: AsyncIterable<Buffer>) => append(file, chunks, seen);
    if (name.endsWith(".gz")) await pipeline(text, createGzip({ level: COMPRESSION_LEVEL }), sink);
    else await pipeline(text, sink);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(path + UNFINISHED, path);
  await syncFolders(realFiles, dirname(path), base, firstMade);
  return { name, rows: seen.rows, bytes: seen.bytes, sha256: seen.hash.digest("hex") };
}

async function append(file: FileHandle, chunks: AsyncIterable<Buffer>, seen: { bytes: number; hash: Hash }): Promise<void> {
  for await (const chunk of chunks) {
    await file.appendFile(chunk);
    seen.bytes += chunk.length;
    seen.hash.update(chunk);
  }
}

async function* chunksOf(lines: Iterable<string> | AsyncIterable<string>, seen: { rows: number }): AsyncGenerator<Buffer> {
  let chunk = "";
  for await (const line of lines) {
    chunk += `${line}\n`;
    seen.rows++;
    if (chunk.length < CHUNK_CHARS) continue;
    yield Buffer.from(chunk);
    chunk = "";
  }
  if (chunk !== "") yield Buffer.from(chunk);
}

async function measured(base: string, name: string): Promise<WrittenFile | undefined> {
  const digested = await digestOf(base, name);
  if (digested === undefined) return undefined;
  let rows = 0;
  for await (const lines of linesOf(join(base, name))) rows += lines.length;
  return { ...digested, rows };
}

async function digestOf(base: string, name: string): Promise<Omit<WrittenFile, "rows"> | undefined> {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(join(base, name))) {
      bytes += chunk.length;
      hash.update(chunk);
    }
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
  return { name, bytes, sha256: hash.digest("hex") };
}

function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
