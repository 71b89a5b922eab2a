// What looks at the whole and says what must not be? Observers of the wire and of the events, with a verdict at the end.
import type { CdxjFields } from "../../../ports/archive.ts";
import type { CrawlConfig } from "../../../schemas/crawl-config.ts";
import type { EventKind } from "../../../schemas/events.ts";
import type { DiscoverMessage } from "../../../schemas/messages.ts";
import type { RowKey } from "../../../schemas/row-key.ts";
import type { CrawlServices } from "../../../transforms/services.ts";
import type { SimOrder } from "../orders.ts";
import type { WireObserver } from "../wire.ts";
import type { World } from "../world.ts";

export interface SimFacts {
  world: World;
  config: CrawlConfig;
  /** What an operator orders meanwhile; absent: nothing. */
  orders?: readonly SimOrder[];
  /** True time, Unix ms. */
  now(): number;
  /** No fault was planned: what must be prompt is judged only then. */
  faultless: boolean;
  /** The longest from an answer to the durable write of what it says, ms, stores being slow; 0 where they answer at once. */
  storeMsMax?: number;
  /** Workers that live side by side, at most; absent: one. */
  workersAtOnce?: number;
  /** What a run must have done at least not to fail. */
  requestsMin?: number;
}

/** What stands when the run is over and quiet. */
export interface FinalState {
  tables: CrawlServices["tables"];
  now: number;
  /** When the crawl was told to ask for nothing more; absent: now. */
  stoppedAt?: number;
  /** Since when there were no faults; absent: from the beginning. */
  faultsEndedAt?: number;
  /** What the durable queues still hold: not lost, only not delivered. */
  undelivered?: { discover: readonly DiscoverMessage[]; reparse: number };
}

/** The counts of one stage that a queue's bound is about; job.stats() gives them. */
export interface QueueStats {
  queued: number;
  queuedMax: number;
  running: number;
  settling: number;
}

export interface Checker extends WireObserver {
  name: string;
  published?(kind: EventKind, event: object): void;
  /** A message was published to the discover queue. */
  discovered?(message: DiscoverMessage): void;
  /** A URL's record was inserted. */
  recorded?(key: RowKey): void;
  /** A capture was appended to the archive: the index fields of its response or revisit record. */
  stored?(index: CdxjFields): void;
  /** Every few virtual seconds; `held`: the leases in the worker's pool. */
  engine?(stats: Readonly<Record<string, QueueStats>>, held?: number): void;
  /** A frontier wrote its state, with so many URLs ready. */
  frontier?(ready: number): void;
  /** This worker has died: what it had heard and not made durable is forgotten. */
  crashed?(worker: string): void;
  /** Called once, after all that is due has been done. */
  finish?(final: FinalState): void | Promise<void>;
  /** What was measured, for people. */
  figures?(): Record<string, number>;
  /** What was wrong, the first few in words. */
  readonly violations: Violations;
}

const WORDS_KEPT = 10; // violations told in words; all are counted

export class Violations {
  count = 0;
  readonly words: string[] = [];

  add(words: string): void {
    this.count++;
    if (this.words.length < WORDS_KEPT) this.words.push(words);
  }
}
