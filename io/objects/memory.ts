// What do tests and the simulator store captures, lines and events in? Arrays; everything completes with microtasks alone.
import type { Archive, ArchiveRecord, Lines, StoredAt } from "../../ports/archive.ts";
import type { Events } from "../../ports/events.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import type { EventKind, EventOf } from "../../schemas/events.ts";
import { assertEvent } from "./event-line.ts";

export interface MemoryOptions {
  /** The newest so many are kept. */
  keep?: number;
}

const KEEP = 100_000; // records, lines or events: a year of a small simulated crawl

export interface MemoryArchive extends Archive {
  /** Oldest first. */
  records(): (ArchiveRecord & { at: StoredAt })[];
}

export function memoryArchive({ keep = KEEP }: MemoryOptions = {}): MemoryArchive {
  const byOffset = new Map<number, ArchiveRecord & { at: StoredAt }>();
  let offset = 0;
  const add = (record: ArchiveRecord): StoredAt => {
    const at = { segment: SEGMENT, offset, length: record.bytes.reduce((sum, part) => sum + part.length, 0) };
    byOffset.set(offset, { ...record, at });
    offset += at.length;
    if (byOffset.size > keep) byOffset.delete(byOffset.keys().next().value!);
    return at;
  };
  return {
    records: () => [...byOffset.values()],
    append: async (records) => records.map(add),
    async read(at) {
      const record = byOffset.get(at.offset);
      if (record?.at.length !== at.length) throw new StoreError(`no record at ${at.offset}`, { final: true });
      return Buffer.concat(record.bytes);
    },
    async close() {},
  };
}

const SEGMENT = "dt=1970-01-01/segment-memory.warc.gz"; // the only one

export interface MemoryLines extends Lines {
  readonly lines: readonly string[];
}

export function memoryLines({ keep = KEEP }: MemoryOptions = {}): MemoryLines {
  const lines: string[] = [];
  return {
    lines,
    async append(added) {
      addBounded(lines, added, keep);
    },
    async close() {},
  };
}

export interface MemoryEvents extends Events {
  /** Oldest first. */
  of<K extends EventKind>(kind: K): EventOf<K>[];
}

export function memoryEvents({ keep = KEEP }: MemoryOptions = {}): MemoryEvents {
  const published: { kind: EventKind; event: EventOf<EventKind> }[] = [];
  return {
    async publish(kind, events) {
      for (const event of events) assertEvent(kind, event);
      addBounded(
        published,
        events.map((event) => ({ kind, event })),
        keep,
      );
    },
    of: <K extends EventKind>(kind: K) =>
      published.filter((each) => each.kind === kind).map((each) => each.event as EventOf<K>),
    async close() {},
  };
}

/** Drops in strides, so that an append costs no more than what it adds. */
function addBounded<T>(items: T[], added: readonly T[], keep: number): void {
  for (const item of added) items.push(item);
  if (items.length > keep * 1.1) items.splice(0, items.length - keep);
}
