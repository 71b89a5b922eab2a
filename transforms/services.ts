// What does a worker have? The ports that the crawl's DoFns are given; the wiring fills them.
import type { Archive, Lines } from "../ports/archive.ts";
import type { Clock } from "../ports/clock.ts";
import type { Events } from "../ports/events.ts";
import type { Gunzip } from "../ports/gunzip.ts";
import type { Http } from "../ports/http.ts";
import type { Log } from "../ports/log.ts";
import type { Metrics } from "../ports/metrics.ts";
import type { Parser } from "../ports/parser.ts";
import type { Queue } from "../ports/queue.ts";
import type { Random } from "../ports/random.ts";
import type { RecordTable, VersionedTable } from "../ports/versioned-table.ts";
import type { ContentRef } from "../schemas/content-ref.ts";
import type { HostDue, HostState } from "../schemas/host-state.ts";
import type { RobotsState } from "../schemas/robots-state.ts";
import type { TemplateCount } from "../schemas/template-count.ts";
import type { UrlState } from "../schemas/url-state.ts";
import type { SeenAnswers } from "./fetch/answers-seen.ts";
import type { HostTurns } from "./fetch/host-turns.ts";
import type { PageBudget } from "./fetch/page-budget.ts";
import type { FetchPool } from "./fetch/pool.ts";
import type { HostGauge } from "./host-gauge.ts";
import type { LiveConfig } from "./live-config.ts";
import type { RobotsReader } from "./robots-reader.ts";

export interface Tables {
  urls: RecordTable<UrlState>;
  /** Keys only: schemas/row-key.ts. */
  due: VersionedTable;
  hosts: RecordTable<HostState>;
  hostDue: RecordTable<HostDue>;
  robots: RecordTable<RobotsState>;
  content: RecordTable<ContentRef>;
  templates: RecordTable<TemplateCount>;
}

export interface Queues {
  discover: Queue;
  host: Queue;
  reparse: Queue;
}

export interface CrawlServices {
  clock: Clock;
  random: Random;
  metrics: Metrics;
  log: Log;
  tables: Tables;
  queues: Queues;
  http: Http;
  archive: Archive;
  documents: Lines;
  events: Events;
  parser: Parser;
  gunzip: Gunzip;
  robots: RobotsReader;
  answers: SeenAnswers;
  hosts: HostGauge;
  live: LiveConfig;
  hostTurns: HostTurns;
  /** When this worker began, Unix ms. */
  startedAt: number;
  pool: FetchPool;
  budget: PageBudget;
}
