// How do documents come into Cloud Storage? One gzip member of whole lines a commit, an object of its own, never written again.
import type { Lines } from "../../../ports/archive.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Random } from "../../../ports/random.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import { COMPRESSION_LEVEL, gzipMember } from "../gzip-members.ts";
import { partNames } from "../part-names.ts";
import type { ObjectBucket } from "./bucket.ts";
import { BATCH_BYTES, BATCH_ITEMS, GATHER_MS, gatheredCommit, weightOf } from "./gathered-commit.ts";
import { createNamed, GZIP_TYPE } from "./named-object.ts";

export interface GcsLinesOptions {
  bucket: ObjectBucket;
  /** Objects are dt=YYYY-MM-DD/part-….ndjson.gz below it. */
  folder: string;
  clock: Clock;
  random: Random;
  gatherMs?: number;
  batchBytes?: number;
  batchLines?: number;
  compressionLevel?: number;
}

interface Entry {
  text: Uint8Array;
  lines: number;
}

/** Any number of workers may write to one folder. */
export function gcsLines(options: GcsLinesOptions): Lines {
  const { bucket, folder, clock, gatherMs = GATHER_MS, compressionLevel = COMPRESSION_LEVEL } = options;
  const batch = { bytes: options.batchBytes ?? BATCH_BYTES, items: options.batchLines ?? BATCH_ITEMS };
  const nameAt = partNames(options.random, "part", ".ndjson.gz");
  let closed = false;

  async function commit(entries: readonly Entry[]): Promise<string[]> {
    const packed = await gzipMember(
      entries.map(({ text }) => text),
      compressionLevel,
    );
    const nextName = () => nameAt(clock.now());
    const name = await createNamed({ bucket, folder, nextName, contentType: GZIP_TYPE, bytesFor: async () => packed });
    return entries.map(() => name);
  }

  const group = gatheredCommit({
    commit,
    clock,
    gatherMs,
    batchBytes: batch.bytes,
    bytesOf: ({ text, lines }: Entry) => weightOf(text.length, lines, batch),
  });
  return {
    async append(lines) {
      if (closed) throw new StoreError("the output is closed", { final: true });
      if (lines.length > 0) await group.submit({ text: Buffer.from(`${lines.join("\n")}\n`), lines: lines.length });
    },
    async close() {
      closed = true;
      await group.drained();
    },
  };
}
