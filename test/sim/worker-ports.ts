// What does a simulated worker stand on? The shared ground, seen by a spectator, with the plan's faults, for as long as it lives.
import { gunzip } from "../../io/gunzip.ts";
import { type RawTables, type TableName, tableNames, type WorkerPorts } from "../../pipelines/worker.ts";
import type { Http } from "../../ports/http.ts";
import type { Queue } from "../../ports/queue.ts";
import type { VersionedTable } from "../../ports/versioned-table.ts";
import { decode } from "../../schemas/codec.ts";
import { type DiscoverMessage, discoverMessage } from "../../schemas/messages.ts";
import type { RowKey } from "../../schemas/row-key.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import type { Chance } from "./chance.ts";
import { faultyArchive, faultyEvents, faultyLines, faultyParser, faultyQueue, faultyTable, type Weather } from "./faults.ts";
import type { Ground } from "./ground.ts";
import type { Hands } from "./hands.ts";
import {
  type Life,
  mortalArchive,
  mortalClock,
  mortalEvents,
  mortalHttp,
  mortalLines,
  mortalParser,
  mortalQueue,
  mortalTable,
} from "./life.ts";

/** What somebody beside the workers wants to see of their work; what nobody wants to see is not looked for. */
export interface Spectator {
  discovered?(message: DiscoverMessage): void;
  recorded?(key: RowKey): void;
  frontier(readyUrls: number): void;
  crashed(worker: string): void;
}

/** What all workers of a run share. */
export interface PortsOptions {
  ground: Ground;
  weather: Weather;
  /** Of the workers' own draws: tokens, revs, jitter. */
  draw: Chance;
  http: (worker: { name: string; life: Life; clock: CrawlServices["clock"] }) => Http;
  hostQueue: () => Queue;
  spectator: Spectator;
  log?: CrawlServices["log"];
}

export interface PortsOwner {
  name: string;
  life: Life;
  /** What its clock is ahead of true time. */
  skewMs: number;
  hands: Hands;
}

export function workerPorts(
  { ground, weather, draw, http, hostQueue, spectator, log = () => {} }: PortsOptions,
  { name, life, skewMs, hands }: PortsOwner,
): WorkerPorts {
  const clock = mortalClock(ground.clock, life, skewMs);
  const tableOf = (each: TableName): VersionedTable =>
    mortalTable(faultyTable(each === "urls" ? seen(ground.tables.urls, spectator) : ground.tables[each], weather), life);
  const queueOf = (queue: Queue, mayLose: boolean): Queue =>
    mortalQueue(faultyQueue(hands.noting(queue), weather, mayLose), life, hands.listens);
  return {
    clock,
    random: draw,
    metrics: ground.metrics,
    log,
    http: mortalHttp(http({ name, life, clock }), life),
    archive: mortalArchive(faultyArchive(ground.archive, weather), life),
    documents: mortalLines(faultyLines(ground.documents, weather), life),
    events: mortalEvents(faultyEvents(ground.events, weather), life),
    parser: mortalParser(faultyParser(ground.parser, weather), life),
    gunzip,
    tables: Object.fromEntries(tableNames.map((each) => [each, tableOf(each)])) as RawTables,
    queues: {
      discover: queueOf(heard(ground.queues.discover, spectator), false),
      reparse: queueOf(ground.queues.reparse, false),
      host: queueOf(hostQueue(), true),
    },
  };
}

function seen(table: VersionedTable, { recorded }: Spectator): VersionedTable {
  if (recorded === undefined) return table;
  return {
    ...table,
    insertIfAbsent: (rows) =>
      table.insertIfAbsent(rows).then((inserted) => {
        for (const [index, row] of rows.entries()) if (inserted[index]) recorded(row.key);
        return inserted;
      }),
  };
}

function heard(queue: Queue, { discovered }: Spectator): Queue {
  if (discovered === undefined) return queue;
  return {
    ...queue,
    publish(bodies) {
      for (const body of bodies) discovered(decode(discoverMessage, body));
      return queue.publish(bodies);
    },
  };
}
