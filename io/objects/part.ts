// How is one append-only file begun, written and ended so that what was acknowledged survives a power cut?
import { dirname, join } from "node:path";
import { type FileLayer, type OpenFile, syncFolders } from "./file-layer.ts";
import { OPEN_MARK } from "./part-names.ts";

/** `power`: acknowledged after fdatasync. `process`: after write; survives the process's end, not the machine's. */
export type Durability = "power" | "process";

export interface PartOptions {
  folder: string;
  files: FileLayer;
  durability: Durability;
  /** The name of the index beside a part, where there is one. */
  indexName?: (name: string) => string;
}

export interface Part {
  /** Relative to the folder. */
  readonly name: string;
  readonly file: OpenFile;
  readonly index: OpenFile | undefined;
  /** Acknowledged bytes. */
  length: number;
  indexLength: number;
  /** False when a write could not be undone or a sync failed: the file is not trusted any more. */
  sound: boolean;
  /** False when the index lacks lines. */
  indexSound: boolean;
}

/**
 * Makes the files of a part. The mark is durable before the part is there, so that no part is without one until its end. Rejects,
 * and takes back what it made, where the system does not let it.
 */
export async function beginPart(options: PartOptions, name: string): Promise<Part> {
  const { folder, files, durability } = options;
  const path = join(folder, name);
  const made: { path: string; file: OpenFile }[] = [];
  const make = async (newPath: string) => {
    const file = await files.create(newPath);
    made.push({ path: newPath, file });
    return file;
  };
  try {
    const firstMade = await files.makeFolder(dirname(path));
    await (await make(path + OPEN_MARK)).close();
    if (durability === "power") await syncFolders(files, dirname(path), folder, firstMade);
    const file = await make(path);
    const index = options.indexName && (await make(join(folder, options.indexName(name))));
    if (durability === "power") await files.syncFolder(dirname(path));
    return { name, file, index, length: 0, indexLength: 0, sound: true, indexSound: true };
  } catch (cause) {
    for (const { path: madePath, file } of made.reverse()) await succeeds(file.close().then(() => files.remove(madePath)));
    throw cause;
  }
}

/** Writes at the part's end and syncs; the offset written at. Rejects, and takes the bytes back, where either fails. */
export async function writePart(part: Part, chunks: readonly Uint8Array[], durability: Durability): Promise<number> {
  const offset = part.length;
  let written = false;
  try {
    await part.file.write(chunks, offset);
    written = true;
    if (durability === "power") await part.file.datasync();
  } catch (cause) {
    // after a failed sync the kernel may have dropped the dirty pages and report the next sync as good
    const undone = await succeeds(part.file.truncate(offset));
    part.sound = undone && !written;
    throw cause;
  }
  part.length += byteLength(chunks);
  return offset;
}

/** Not synced: the index can be made anew from the part, and is where it lags. */
export async function writeIndex(part: Part, lines: string): Promise<void> {
  if (part.index === undefined || !part.indexSound || lines === "") return;
  const bytes = Buffer.from(lines);
  part.indexSound = await succeeds(part.index.write([bytes], part.indexLength));
  part.indexLength += bytes.length;
}

/**
 * Closes the files; takes the mark away where all is well and durable, and the files too where nothing was written. False: the mark
 * stays, the next start looks at the part.
 */
export async function endPart(part: Part, options: PartOptions): Promise<boolean> {
  const { files, folder, indexName } = options;
  const path = join(folder, part.name);
  const synced = part.sound && part.indexSound && (await succeeds(syncAll(part, options.durability)));
  const closed = await succeeds(Promise.all([part.file.close(), part.index?.close()]));
  if (!synced || !closed) return false;
  const empty = part.length > 0 ? [] : [path, ...(indexName ? [join(folder, indexName(part.name))] : [])];
  for (const each of [...empty, path + OPEN_MARK]) if (!(await succeeds(files.remove(each)))) return false;
  return true;
}

async function syncAll(part: Part, durability: Durability): Promise<void> {
  if (durability === "process") await part.file.datasync();
  await part.index?.datasync();
}

export function byteLength(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch {
    return false;
  }
}
