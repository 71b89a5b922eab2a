// What a worker of the crawl is made of, whichever stores and engine it has: the ports joined to the services that the DoFns need.

import type { Events } from "../ports/events.ts";
import type { Queue } from "../ports/queue.ts";
import { recordTable, type StoreError, type VersionedTable } from "../ports/versioned-table.ts";
import { contentRef } from "../schemas/content-ref.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import type { EventKind } from "../schemas/events.ts";
import { hostDue, hostState } from "../schemas/host-state.ts";
import { robotsState } from "../schemas/robots-state.ts";
import { templateCount } from "../schemas/template-count.ts";
import { urlState } from "../schemas/url-state.ts";
import { seenAnswers } from "../transforms/fetch/answers-seen.ts";
import { hostTurns } from "../transforms/fetch/host-turns.ts";
import { pageBudget } from "../transforms/fetch/page-budget.ts";
import { fetchPool } from "../transforms/fetch/pool.ts";
import { leaseRunner, report, unfetched } from "../transforms/fetch/run-lease.ts";
import { hostGauge } from "../transforms/host-gauge.ts";
import { liveConfig } from "../transforms/live-config.ts";
import { robotsReader } from "../transforms/robots-reader.ts";
import type { CrawlServices, Tables } from "../transforms/services.ts";

export const tableNames = ["urls", "due", "hosts", "host_due", "robots", "content", "templates"] as const;
export type TableName = (typeof tableNames)[number];
/** `host` is not among them: its messages are hints, and Beam state does not outlive the process either. */
export const durableQueueNames = ["discover", "reparse"] as const;

export type RawTables = Record<TableName, VersionedTable>;

export type WorkerPorts = Pick<
  CrawlServices,
  "clock" | "random" | "metrics" | "log" | "http" | "archive" | "documents" | "events" | "parser" | "gunzip"
> & { tables: RawTables; queues: { discover: Queue; host: Queue; reparse: Queue } };

export interface WorkerOptions {
  ports: WorkerPorts;
  config: CrawlConfig;
  /** Slots of the fetch pool. */
  fetchers: number;
  /** A store can no longer be used: the job must end. */
  onBroken: (error: StoreError) => void;
}

export function crawlTables(raw: RawTables, random: CrawlServices["random"]): Tables {
  return {
    urls: recordTable(raw.urls, urlState, random),
    due: raw.due,
    hosts: recordTable(raw.hosts, hostState, random),
    hostDue: recordTable(raw.host_due, hostDue, random),
    robots: recordTable(raw.robots, robotsState, random),
    content: recordTable(raw.content, contentRef, random),
    templates: recordTable(raw.templates, templateCount, random),
  };
}

export function crawlWorker({ ports, config, fetchers, onBroken }: WorkerOptions): CrawlServices {
  const { clock, metrics } = ports;
  const tables = crawlTables(ports.tables, ports.random);
  const services: CrawlServices = {
    ...ports,
    tables,
    robots: robotsReader(tables.robots, config.productToken),
    answers: seenAnswers(),
    hosts: hostGauge(metrics),
    live: liveConfig(config),
    hostTurns: hostTurns(),
    startedAt: clock.now(),
    budget: pageBudget(config.pagesMax),
    pool: fetchPool({
      slots: fetchers,
      clock,
      metrics,
      run: (lease) => run(lease),
      turnAway: (lease) => report(services, lease, unfetched("shutdown")),
    }),
  };
  const run = leaseRunner({ services, onBroken });
  return services;
}

/** The same events, seen by someone else too; for the report of this run. */
export function observedEvents(events: Events, see: (kind: EventKind, event: object) => void): Events {
  return {
    async publish(kind, batch) {
      await events.publish(kind, batch);
      for (const event of batch) see(kind, event);
    },
    close: () => events.close(),
  };
}
