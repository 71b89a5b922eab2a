// What do append-only logs ask of a file system? The operations whose durability matters, so that a test can cut the power.
import { mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";

/** Every operation may reject with what the system says. Paths are the system's own. */
export interface FileLayer {
  /** Makes a file and opens it for writing; rejects where one stands. Its entry is durable after syncFolder of its folder. */
  create(path: string): Promise<OpenFile>;
  /** Opens a file that stands for writing. */
  open(path: string): Promise<OpenFile>;
  /** Up to `length` bytes: fewer where the file ends. */
  read(path: string, from: number, length: number): Promise<Uint8Array>;
  /** Bytes; undefined where there is no such file. */
  size(path: string): Promise<number | undefined>;
  /** Names in a folder, in order; none where there is no such folder. */
  list(folder: string): Promise<string[]>;
  /** Makes the folder and what is missing above it; the first one it made, if any. */
  makeFolder(path: string): Promise<string | undefined>;
  /** Makes the entries of the folder durable: files made and removed. */
  syncFolder(path: string): Promise<void>;
  /** Also where there is nothing. */
  remove(path: string): Promise<void>;
}

export interface OpenFile {
  /** Writes all of it at that offset. */
  write(chunks: readonly Uint8Array[], at: number): Promise<void>;
  truncate(length: number): Promise<void>;
  /** Makes the bytes and the length durable. */
  datasync(): Promise<void>;
  close(): Promise<void>;
}

export const realFiles: FileLayer = {
  create: async (path) => openFile(await open(path, "wx")),
  open: async (path) => openFile(await open(path, "r+")),
  read: readRange,
  size: (path) => unlessAbsent(async () => (await stat(path)).size, undefined),
  list: (folder) => unlessAbsent(async () => (await readdir(folder)).sort(), []),
  makeFolder: (path) => mkdir(path, { recursive: true }),
  async syncFolder(path) {
    const folder = await open(path, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  },
  remove: (path) => rm(path, { force: true }),
};

function openFile(file: Awaited<ReturnType<typeof open>>): OpenFile {
  return {
    async write(chunks, at) {
      let left = [...chunks];
      for (let offset = at; left.length > 0; ) {
        const { bytesWritten } = await file.writev(left, offset);
        offset += bytesWritten;
        left = without(left, bytesWritten);
        if (bytesWritten === 0 && left.length > 0) throw new Error("the file takes no more bytes");
      }
    },
    truncate: (length) => file.truncate(length),
    datasync: () => file.datasync(),
    close: () => file.close(),
  };
}

/** What a short write left over. */
function without(chunks: readonly Uint8Array[], written: number): Uint8Array[] {
  let skip = written;
  return chunks.flatMap((chunk) => {
    const skipped = Math.min(skip, chunk.length);
    skip -= skipped;
    return skipped === chunk.length ? [] : [chunk.subarray(skipped)];
  });
}

async function readRange(path: string, from: number, length: number): Promise<Uint8Array> {
  const file = await open(path, "r");
  try {
    const bytes = Buffer.allocUnsafe(Math.min(length, Math.max(0, (await file.stat()).size - from)));
    let filled = 0;
    while (filled < bytes.length) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}

async function unlessAbsent<T>(run: () => Promise<T>, absent: T): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return absent;
    throw error;
  }
}

/** Makes the entries of the folder durable, and those above it up to the folder that holds `base` or, if higher, `firstMade`. */
export async function syncFolders(files: FileLayer, path: string, base: string, firstMade: string | undefined): Promise<void> {
  const tops = [base, firstMade ?? base].map((each) => dirname(resolve(each)).length);
  const top = Math.min(...tops);
  for (let folder = resolve(path); folder.length >= top; folder = dirname(folder)) {
    await files.syncFolder(folder);
    if (folder === dirname(folder)) return;
  }
}
