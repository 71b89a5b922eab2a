// How do records get onto a disk and back? In chunks of whole records, read one after another from any place that was noted.
import type { Run, Spill } from "../../ports/spill.ts";
import { type Place, type Records, sizeOf } from "./records.ts";

const CHUNK_BYTES = 64 * 1024; // what a disk likes to read in one go; a larger record is a chunk of its own

/** Records one after another. */
export interface Cursor {
  /** Of the record at hand, until next(); undefined after the last. */
  readonly place: Place | undefined;
  next(): void;
  /** Where the record at hand is, for open(); not after the last. */
  mark(): Mark;
  close(): void;
}

export interface Mark {
  readonly chunk: number;
  readonly offset: number;
}

/** What can be read any number of times. */
export type Sequence = { kind: "run"; run: Run } | { kind: "records"; records: Records; order: Float64Array | undefined };

export function open(sequence: Sequence, from?: Mark): Cursor {
  if (sequence.kind === "run") return runCursor(sequence.run, from);
  return recordsCursor(sequence.records, sequence.order, from?.offset);
}

/** Throws SpillError; nothing of the run stays then. */
export function writeRun(spill: Spill, places: Iterable<Place>): Run {
  const pack = startPacking(spill);
  try {
    for (const place of places) pack.add(place);
    return pack.end();
  } catch (error) {
    pack.abandon();
    throw error;
  }
}

export function* placesOf(records: Records, order?: Float64Array): Iterable<Place> {
  for (let index = 0; index < records.count; index++) yield records.place(order?.[index] ?? index);
}

/** Writes a run record by record. */
export function startPacking(spill: Spill): { add(place: Place): void; end(): Run; abandon(): void } {
  const writer = spill.begin();
  const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let used = 0;
  const flush = () => {
    if (used > 0) writer.append(chunk.subarray(0, used));
    used = 0;
  };
  return {
    add(place) {
      const size = sizeOf(place);
      if (used + size > CHUNK_BYTES) flush();
      if (size > CHUNK_BYTES) {
        writer.append(place.block.subarray(place.at, place.at + size));
        return;
      }
      place.block.copy(chunk, used, place.at, place.at + size);
      used += size;
    },
    end() {
      flush();
      return writer.end();
    },
    abandon: () => writer.abandon(),
  };
}

function runCursor(run: Run, from: Mark = { chunk: 0, offset: 0 }): Cursor {
  const reader = run.read(from.chunk);
  const cursor = {
    place: placeIn(reader.next(), from.offset),
    next() {
      const { place } = cursor;
      if (place === undefined) return;
      place.at += sizeOf(place);
      if (place.at === place.block.length) cursor.place = placeIn(reader.next(), 0);
    },
    mark: () => ({ chunk: reader.at, offset: cursor.place?.at ?? 0 }),
    close: () => reader.close(),
  };
  return cursor;
}

function placeIn(block: Buffer | undefined, at: number): { block: Buffer; at: number } | undefined {
  return block && { block, at };
}

function recordsCursor(records: Records, order: Float64Array | undefined, from = 0): Cursor {
  let index = from;
  const place = () => (index < records.count ? records.place(order?.[index] ?? index) : undefined);
  const cursor = {
    place: place(),
    next() {
      index++;
      cursor.place = place();
    },
    mark: () => ({ chunk: 0, offset: index }),
    close: () => undefined,
  };
  return cursor;
}
