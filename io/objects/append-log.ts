// How do concurrent appends become durable with one sync? A log of parts, written a batch at a time, rolled by size, age and day.
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { systemTrouble } from "../stores/sqlite-faults.ts";
import { groupCommit } from "./group-commit.ts";
import { beginPart, byteLength, endPart, type Part, type PartOptions, writeIndex, writePart } from "./part.ts";
import { msToNextDay } from "./part-names.ts";

export interface AppendLogOptions extends PartOptions {
  clock: Clock;
  /** The name of a new part begun at this time (Unix ms), relative to the folder; never the same twice. */
  nameAt: (at: number) => string;
  /** A part that has this many bytes, or is this old, takes no more batches. */
  partBytes: number;
  partMs: number;
  /** The first bytes of a part. */
  opening?: (name: string, at: number) => Promise<Uint8Array>;
  /** Makes one piece of a batch. Without it the chunks are written as they are. */
  pack?: (chunks: readonly Uint8Array[]) => Promise<Uint8Array>;
  log?: Log;
}

export interface Entry {
  chunks: readonly Uint8Array[];
  /** Its lines in the index beside the part, given where it lies. */
  indexLines?: (place: Place) => string;
}

/** Where an entry begins; with `pack`, where its batch does. */
export interface Place {
  /** Of the part. */
  name: string;
  offset: number;
}

export interface AppendLog {
  /** Resolves when the entry is as durable as was asked for. Rejects with StoreError: it may or may not be there. */
  append(entry: Entry): Promise<Place>;
  close(): Promise<void>;
}

const BATCH_BYTES = 32 * 1024 * 1024; // one commit: a third of a second of a slow disk; a larger entry is a batch of its own

export function appendLog(options: AppendLogOptions): AppendLog {
  let open: { part: Part; since: number; stopTimer: () => void } | undefined;
  let closed = false;
  const bytesOf = (entry: Entry) => byteLength(entry.chunks);
  const group = groupCommit({ commit, bytesOf, batchBytes: BATCH_BYTES });

  async function commit(batch: readonly Entry[]): Promise<Place[]> {
    await endIfFull();
    const part = open?.part ?? (await begin());
    try {
      return await commitTo(part, batch, options);
    } catch (cause) {
      if (!part.sound) await end();
      throw cause;
    }
  }

  async function begin(): Promise<Part> {
    const since = options.clock.now();
    const part = await beginPart(options, options.nameAt(since));
    const stopTimer = options.clock.after(lifeMs(since, options), () => {
      void group.between(endIfFull);
    });
    open = { part, since, stopTimer };
    return part;
  }

  async function endIfFull(): Promise<void> {
    if (open === undefined) return;
    const aged = options.clock.now() - open.since >= lifeMs(open.since, options);
    if (aged || open.part.length >= options.partBytes) await end();
  }

  async function end(): Promise<void> {
    if (open === undefined) return;
    const { part, stopTimer } = open;
    open = undefined;
    stopTimer();
    const clean = await endPart(part, options);
    if (!clean) options.log?.("warn", "an output file was not closed cleanly; the next start looks at it", { file: part.name });
  }

  return {
    append(entry) {
      if (closed) return Promise.reject(new StoreError("the output is closed", { final: true }));
      return group.submit(entry).catch((cause) => {
        throw cause instanceof StoreError ? cause : troubleIn(options.folder, cause);
      });
    },
    async close() {
      closed = true;
      await group.drained();
      await group.between(end);
    },
  };
}

function troubleIn(folder: string, cause: unknown): StoreError {
  return systemTrouble(cause, folder) ?? new StoreError(`cannot write to ${folder}`, { cause });
}

/** A part ends with its day at the latest. */
function lifeMs(since: number, options: AppendLogOptions): number {
  return Math.min(options.partMs, msToNextDay(since));
}

async function commitTo(part: Part, batch: readonly Entry[], options: AppendLogOptions): Promise<Place[]> {
  const opening = part.length === 0 && options.opening ? [await options.opening(part.name, options.clock.now())] : [];
  const chunks = batch.flatMap((entry) => entry.chunks);
  const body = options.pack ? [await options.pack(chunks)] : chunks;
  let offset = (await writePart(part, [...opening, ...body], options.durability)) + byteLength(opening);
  const places = batch.map((entry) => {
    const place = { name: part.name, offset };
    if (!options.pack) offset += byteLength(entry.chunks);
    return place;
  });
  await writeIndex(part, batch.map((entry, index) => entry.indexLines?.(places[index]!) ?? "").join(""));
  return places;
}
