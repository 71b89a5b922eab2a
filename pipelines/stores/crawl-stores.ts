// Where does a crawl keep everything, whichever services that is? What the wiring asks of a place before a crawl begins.
import type { Archive } from "../../ports/archive.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { Random } from "../../ports/random.ts";
import type { Orders } from "../orders.ts";
import type { WorkerPorts } from "../worker.ts";

export interface CrawlStores extends Pick<WorkerPorts, "tables" | "queues" | "documents" | "events"> {
  archive: Archive;
  /** Facts about the crawl itself: its seeds, its configuration, the number of its job. */
  meta: CrawlMeta;
  orders: Orders;
  /** For people: where pages, documents and events lie. */
  output: { pages: string; documents: string; events: string };
  /** What a commit survives. */
  durability: Durability;
  /** How far the clocks of those who share the records may differ from true time, ms. */
  clockSkewMs: number;
  /** How long after a start messages may still come that an earlier process held, ms. */
  settleMs: number;
  /** Once nobody uses any of it. */
  close(): Promise<void>;
}

export type Durability = "power" | "process" | "service";

export interface CrawlMeta {
  get(name: string): Promise<string | undefined>;
  set(name: string, text: string): Promise<void>;
  /** The number under the name plus one, which nobody else is given. */
  raise(name: string): Promise<number>;
}

/** What stores are opened with. */
export interface StoresContext {
  clock: Clock;
  random: Random;
  metrics: Metrics;
  log: Log;
  /** The record that opens a WARC segment, given its name without folder and the time (Unix ms). */
  warcinfo(filename: string, at: number): Uint8Array[];
}
