// What outlives every worker? Stores, queues, files and events in memory, a parser that knows the world, and the ears of the checkers.
import type { memoryMetrics } from "../../io/metrics.ts";
import { eventLine } from "../../io/objects/event-line.ts";
import { memoryArchive, memoryLines } from "../../io/objects/memory.ts";
import { inlineParser } from "../../io/parsing/inline.ts";
import { memoryQueue } from "../../io/queues/memory-queue.ts";
import { memoryTable } from "../../io/stores/memory-table.ts";
import { type RawTables, tableNames } from "../../pipelines/worker.ts";
import type { Archive, Lines } from "../../ports/archive.ts";
import type { Events } from "../../ports/events.ts";
import type { Parser } from "../../ports/parser.ts";
import type { Queue } from "../../ports/queue.ts";
import type { VirtualClock } from "../lib/virtual-clock.ts";
import type { Checker, Violations } from "./checkers/checker.ts";
import type { Effort } from "./effort.ts";
import { type WorldParserCounts, worldParser } from "./world-parser.ts";

export interface Ground {
  clock: VirtualClock;
  tables: RawTables;
  queues: { discover: Queue; reparse: Queue };
  archive: Archive;
  documents: Lines;
  events: Events;
  parser: Parser;
  /** Of its work. */
  parsed: WorldParserCounts;
  metrics: ReturnType<typeof memoryMetrics>;
  effort: Effort;
}

type Given = Pick<Ground, "clock" | "metrics" | "effort"> & { checkers: readonly Checker[]; violations: Violations };

const KEEP = 1_000; // records and lines that stay in memory

export function groundOf({ clock, metrics, effort, checkers, violations }: Given): Ground {
  const parsed = { pagesAnswered: 0, pagesRead: 0 };
  return {
    clock,
    metrics,
    effort,
    tables: Object.fromEntries(tableNames.map((name) => [name, memoryTable()])) as RawTables,
    queues: { discover: memoryQueue(), reparse: memoryQueue() },
    archive: watchedArchive(checkers),
    documents: memoryLines({ keep: KEEP }),
    events: heardEvents(checkers),
    parser: worldParser(inlineParser(), (words) => violations.add(words), parsed),
    parsed,
  };
}

function watchedArchive(checkers: readonly Checker[]): Archive {
  const archive = memoryArchive({ keep: KEEP });
  const hearers = checkers.filter(({ stored }) => stored !== undefined);
  if (hearers.length === 0) return archive;
  return {
    ...archive,
    append(records) {
      for (const { index } of records) if (index !== undefined) for (const checker of hearers) checker.stored!(index);
      return archive.append(records);
    },
  };
}

const SHAPES_ONE_IN = 8; // events whose shape is asserted: the codecs of all kinds come up within a second

/** Heard by the checkers, and kept nowhere. */
function heardEvents(checkers: readonly Checker[]): Events {
  const hearers = checkers.filter(({ published }) => published !== undefined);
  const done = Promise.resolve();
  let events = 0;
  return {
    publish(kind, batch) {
      for (const event of batch) {
        if (events++ % SHAPES_ONE_IN === 0) eventLine(kind, event);
        for (const checker of hearers) checker.published!(kind, event);
      }
      return done;
    },
    async close() {},
  };
}
