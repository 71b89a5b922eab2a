// How do lines of JSON become files that others can read at any time? Whole lines or whole gzip members only, by group commit.
import type { Lines } from "../../ports/archive.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Random } from "../../ports/random.ts";
import { limits } from "../../schemas/limits.ts";
import { appendLog } from "./append-log.ts";
import type { FileLayer } from "./file-layer.ts";
import { COMPRESSION_LEVEL, gzipMember, wholeMembers } from "./gzip-members.ts";
import type { Durability } from "./part.ts";
import { partNames } from "./part-names.ts";
import { type PartKind, type Repair, repairParts, wholeLines } from "./repair.ts";

export interface FileLinesOptions {
  /** Parts are dt=YYYY-MM-DD/part-….ndjson or .ndjson.gz below it. */
  folder: string;
  files: FileLayer;
  clock: Clock;
  random: Random;
  durability: Durability;
  /** One gzip member a group commit. */
  gzip: boolean;
  partBytes?: number;
  partMs?: number;
  compressionLevel?: number;
  /** What the start found half written by an earlier run. */
  repaired?: (repairs: Repair[]) => void;
  log?: Log;
}

const PART_BYTES = 256 * 1024 * 1024; // a part's lines are read whole when it was not closed: about two seconds

/** Repairs what an earlier run left, then takes lines; a part is begun by the first. One process a folder. Rejects with StoreError. */
export async function fileLines(options: FileLinesOptions): Promise<Lines> {
  const { files, folder } = options;
  const repairs = await repairParts(folder, files, options.gzip ? gzipParts(files) : plainParts(files), options.log);
  options.repaired?.(repairs);
  const level = options.compressionLevel ?? COMPRESSION_LEVEL;
  const log = appendLog({
    ...options,
    nameAt: partNames(options.random, "part", options.gzip ? ".ndjson.gz" : ".ndjson"),
    partBytes: options.partBytes ?? PART_BYTES,
    partMs: options.partMs ?? limits.segmentMs,
    ...(options.gzip && { pack: (chunks: readonly Uint8Array[]) => gzipMember(chunks, level) }),
  });
  return {
    async append(lines) {
      if (lines.length > 0) await log.append({ chunks: [Buffer.from(`${lines.join("\n")}\n`)] });
    },
    close: () => log.close(),
  };
}

function plainParts(files: FileLayer): PartKind {
  return {
    async check(path) {
      let wholeBytes = 0;
      for await (const { line, end } of wholeLines(files, path)) {
        if (!isJson(line)) break;
        wholeBytes = end;
      }
      return { wholeBytes };
    },
    countRecords: (bytes) => bytes.reduce((count, byte) => (byte === 10 ? count + 1 : count), 0),
  };
}

function gzipParts(files: FileLayer): PartKind {
  return {
    async check(path) {
      let wholeBytes = 0;
      for await (const { offset, length } of wholeMembers(files, path, 0)) wholeBytes = offset + length;
      return { wholeBytes };
    },
    countRecords: () => 0,
  };
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
