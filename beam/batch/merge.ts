// How do sorted runs become groups? Merged by a heap, whose first is the smallest; the records of one key then stand one after another.
import type { Spill } from "../../ports/spill.ts";
import { compareRecords, type Place } from "./records.ts";
import { type Cursor, type Mark, open, type Sequence, startPacking } from "./runs.ts";

/** Runs that are read at a time: so many open files, and as many chunks in memory. */
const RUNS_AT_ONCE = 64;
/** Records between two calls of `breathe` while runs are merged to fewer. */
const RECORDS_A_BREATH = 10_000;

/** A place in the merged records that can be come back to. */
export type MergeMark = readonly { rank: number; mark: Mark }[];

interface Ranked {
  /** The sequence's number: records of one key stand in the order of the sequences. */
  rank: number;
  cursor: Cursor;
}

/** All records of the sequences in their order. Operations throw SpillError. */
export class Merged {
  readonly #sequences: readonly Sequence[];
  #heap: Ranked[] = [];

  constructor(sequences: readonly Sequence[], from?: MergeMark) {
    this.#sequences = sequences;
    const marks = from ?? sequences.map((_, rank) => ({ rank, mark: undefined }));
    for (const { rank, mark } of marks) this.#heap.push({ rank, cursor: open(sequences[rank]!, mark) });
    for (const { cursor } of this.#heap) if (cursor.place === undefined) cursor.close();
    this.#heap = this.#heap.filter(({ cursor }) => cursor.place !== undefined);
    for (let at = this.#heap.length >> 1; at >= 0; at--) this.#sink(at);
  }

  /** The record at hand, until next(); undefined after the last. */
  get place(): Place | undefined {
    return this.#heap[0]?.cursor.place;
  }

  next(): void {
    const first = this.#heap[0];
    if (first === undefined) return;
    first.cursor.next();
    if (first.cursor.place === undefined) {
      first.cursor.close();
      const last = this.#heap.pop()!;
      if (last !== first) this.#heap[0] = last;
    }
    this.#sink(0);
  }

  mark(): MergeMark {
    return this.#heap.map(({ rank, cursor }) => ({ rank, mark: cursor.mark() }));
  }

  /** Closes this one. */
  backTo(mark: MergeMark): Merged {
    this.close();
    return new Merged(this.#sequences, mark);
  }

  close(): void {
    for (const { cursor } of this.#heap) cursor.close();
    this.#heap = [];
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const sinking = heap[from];
    if (sinking === undefined) return;
    let at = from;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (before(sinking, heap[child]!)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = sinking;
  }
}

function before(one: Ranked, other: Ranked): boolean {
  const order = compareRecords(one.cursor.place!, other.cursor.place!);
  return order === 0 ? one.rank < other.rank : order < 0;
}

/** As few sequences as can be read at once, with the same records: runs are merged into larger ones, which take their place. */
export async function mergedToFew(
  spill: Spill,
  sequences: readonly Sequence[],
  breathe: () => Promise<void>,
): Promise<Sequence[]> {
  let all = [...sequences];
  while (all.length > RUNS_AT_ONCE) {
    // Each record is rewritten once a round: first the smallest, and no more of them than it takes.
    const runs = all.filter((sequence) => sequence.kind === "run").sort((one, other) => one.run.bytes - other.run.bytes);
    const few = runs.slice(0, Math.min(RUNS_AT_ONCE, all.length - RUNS_AT_ONCE + 1));
    const run = await mergedRun(spill, few, breathe);
    for (const one of few) one.run.remove();
    all = [...all.filter((sequence) => !(few as Sequence[]).includes(sequence)), { kind: "run", run }];
  }
  return all;
}

async function mergedRun(spill: Spill, sequences: readonly Sequence[], breathe: () => Promise<void>) {
  const merged = new Merged(sequences);
  const pack = startPacking(spill);
  try {
    for (let count = 1; merged.place !== undefined; count++) {
      pack.add(merged.place);
      merged.next();
      if (count % RECORDS_A_BREATH === 0) await breathe();
    }
    return pack.end();
  } catch (error) {
    pack.abandon();
    throw error;
  } finally {
    merged.close();
  }
}
