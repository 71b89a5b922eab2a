// What did the last run leave half written? Parts that still bear their mark are cut to what is whole; indexes are caught up.
import { dirname, join } from "node:path";
import type { Log } from "../../ports/log.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { systemTrouble } from "../stores/sqlite-faults.ts";
import type { FileLayer } from "./file-layer.ts";
import { OPEN_MARK } from "./part-names.ts";

export interface Repair {
  /** Relative to the folder. */
  segment: string;
  keptBytes: number;
  droppedBytes: number;
  /** At least so many records began in what was dropped; none was acknowledged as durable, but for those that are lost. */
  droppedRecords: number;
  /** Records that the index speaks of, and so were acknowledged, but that are not whole any more: not our doing, but the disk's. */
  lostRecords: number;
}

export interface PartKind {
  /** Where the index of a part is, if parts have one. */
  indexOf?(path: string): string;
  /** Up to where the part is whole, and what its index must say from which of its bytes on. */
  check(path: string): Promise<{ wholeBytes: number; index?: { from: number; tail: string }; lostRecords?: number }>;
  /** Records that begin in these bytes, as far as can be told. */
  countRecords(bytes: Uint8Array): number;
}

/**
 * One report for each part that was not closed; what was dropped is said in the log. Must not run while another process writes there.
 * Rejects with StoreError.
 */
export async function repairParts(folder: string, files: FileLayer, kind: PartKind, log?: Log): Promise<Repair[]> {
  try {
    const repairs: Repair[] = [];
    for (const name of await markedParts(folder, files)) {
      const repair = await repairPart(folder, name, files, kind);
      if (repair) repairs.push(repair);
      if (repair) tell(folder, repair, log);
    }
    return repairs;
  } catch (cause) {
    throw systemTrouble(cause, folder) ?? new StoreError(`cannot repair ${folder}`, { cause });
  }
}

function tell(folder: string, { segment, droppedBytes, droppedRecords, lostRecords }: Repair, log?: Log): void {
  const file = join(folder, segment);
  if (lostRecords > 0) {
    log?.("error", "an output file lacks records that had been acknowledged: its disk has lost them", { file, lostRecords });
  } else if (droppedBytes > 0) {
    const fields = { file, droppedBytes, droppedRecords };
    log?.("warn", "the end of an output file was half written and is dropped; nothing of it had been acknowledged", fields);
  }
}

async function markedParts(folder: string, files: FileLayer): Promise<string[]> {
  const marked: string[] = [];
  for (const day of await files.list(folder)) {
    if (!day.startsWith("dt=")) continue;
    for (const name of await files.list(join(folder, day)))
      if (name.endsWith(OPEN_MARK)) marked.push(`${day}/${name.slice(0, -OPEN_MARK.length)}`);
  }
  return marked;
}

/** The mark goes last: a repair that is cut short is done again. */
async function repairPart(folder: string, name: string, files: FileLayer, kind: PartKind): Promise<Repair | undefined> {
  const path = join(folder, name);
  const size = await files.size(path);
  const repair = size === undefined ? undefined : await cutToWhole(path, size, files, kind);
  if (repair === undefined || repair.keptBytes === 0)
    for (const useless of [path, kind.indexOf?.(path)]) if (useless !== undefined) await files.remove(useless);
  await files.syncFolder(dirname(path));
  await files.remove(path + OPEN_MARK);
  return repair && { segment: name, ...repair };
}

async function cutToWhole(path: string, size: number, files: FileLayer, kind: PartKind): Promise<Omit<Repair, "segment">> {
  const { wholeBytes, index, lostRecords = 0 } = await kind.check(path);
  const counted = size > wholeBytes ? await countDropped(path, wholeBytes, files, kind) : 0;
  await rewriteTail(files, path, wholeBytes, "");
  if (index && kind.indexOf) await rewriteTail(files, kind.indexOf(path), index.from, index.tail);
  const droppedBytes = size - wholeBytes;
  return { keptBytes: wholeBytes, droppedBytes, droppedRecords: droppedBytes > 0 ? Math.max(1, counted) : 0, lostRecords };
}

/** Syncs also where nothing changes: what was read may not have reached the disk. */
async function rewriteTail(files: FileLayer, path: string, from: number, tail: string): Promise<void> {
  const missing = (await files.size(path)) === undefined;
  const file = missing ? await files.create(path) : await files.open(path);
  try {
    await file.truncate(from);
    if (tail !== "") await file.write([Buffer.from(tail)], from);
    await file.datasync();
  } finally {
    await file.close();
  }
}

const WINDOW_BYTES = 1024 * 1024; // read at a time

async function countDropped(path: string, from: number, files: FileLayer, kind: PartKind): Promise<number> {
  let count = 0;
  for (let at = from; ; at += WINDOW_BYTES) {
    const bytes = await files.read(path, at, WINDOW_BYTES);
    count += kind.countRecords(bytes);
    if (bytes.length < WINDOW_BYTES) return count;
  }
}

/** Lines of a text file with the offset after each, up to the last line end. Longer lines than the limit end the walk. */
export async function* wholeLines(files: FileLayer, path: string): AsyncGenerator<{ line: string; end: number }> {
  let held = Buffer.alloc(0);
  let end = 0;
  while (held.length <= LINE_BYTES_MAX) {
    const read = await files.read(path, end + held.length, WINDOW_BYTES);
    if (read.length === 0) return;
    const bytes = Buffer.concat([held, read]);
    let from = 0;
    for (let at = bytes.indexOf(10, held.length); at >= 0; at = bytes.indexOf(10, from)) {
      end += at + 1 - from;
      yield { line: bytes.toString("utf8", from, at), end };
      from = at + 1;
    }
    held = bytes.subarray(from);
  }
}

const LINE_BYTES_MAX = 64 * 1024 * 1024; // far beyond any document: text, links and structured data of a 20 MiB page
