// What does a discovered URL cost as the table grows? The Discover DoFn over the tables of a data folder, new URLs and known ones, at each size.
import { readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { urlIdentity } from "../../core/url/keys.ts";
import { parseOptions } from "../../pipelines/options.ts";
import { type OpenedCrawl, openCrawl } from "../../pipelines/wiring.ts";
import { crawlWorker } from "../../pipelines/worker.ts";
import type { CrawlConfig } from "../../schemas/crawl-config.ts";
import { limits } from "../../schemas/limits.ts";
import type { DiscoverMessage } from "../../schemas/messages.ts";
import { rowKey } from "../../schemas/row-key.ts";
import { discover } from "../../transforms/discover.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import { paceKeyOfNumber, urlOfNumber } from "./capacity/given.ts";

const LINKS = 60; // of a message: a page's
const MEASURED = 192_000; // URLs of one line: 50 bundles
const WARMED = 38_400; // URLs before a line is measured: the store's cache and the compiler
const PORTION = WARMED + MEASURED;
const PROGRESS_URLS = 500_000;
const STRIDE = 2_654_435_761; // a prime: its multiples modulo a smaller number are all different and lie apart

/** The links of message m are the URLs m * LINKS and so on; each URL has its host for ever. */
interface Web {
  hosts: number;
  /** So many links of a message lead to one host, the others anywhere. */
  home: number;
}

export async function benchDiscover(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      rows: { type: "string", default: "1,5" },
      hosts: { type: "string", default: "100000" },
      home: { type: "string", default: "0" },
    },
  });
  const sizes = values.rows.split(",").map((millions) => Math.round(Number(millions) * 1e6));
  const web = { hosts: Number(values.hosts), home: Number(values.home) };
  const folder = await mkdtemp(join(tmpdir(), "gleaner-bench-"));
  const where = web.home === 0 ? "" : `, ${web.home} of ${LINKS} links of a message to one of them`;
  process.stdout.write(`${LINKS} links a message, ${limits.queuePull} messages a bundle, ${web.hosts} hosts by Zipf${where}\n`);
  printLine("", ["rows", "CPU us/URL", "store thread", "URLs/s", "file B/URL"]);
  try {
    let rows = 0;
    for (const size of sizes.sort((a, b) => a - b)) rows = await measureAt(size, { web, folder, rows });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Fills the folder from `rows` URLs up to `size`, or a little more, and prints a line for each kind of URL. Gives the rows that stand then. */
async function measureAt(size: number, { web, folder, rows }: { web: Web; folder: string; rows: number }): Promise<number> {
  const open = <T>(durability: string, run: (worker: Worker) => Promise<T>): Promise<T> =>
    withWorker(folder, durability, web, run);
  const filled = Math.max(size - 2 * PORTION, rows);
  await open("process", (worker) => worker.discover(from(rows), filled - rows, progress(rows, size)));
  const unsynced = await open("process", (worker) => worker.measured(from(filled)));
  const synced = await open("power", (worker) => worker.measured(from(filled + PORTION)));
  const stand = filled + 2 * PORTION;
  const line = (what: string, { cpuUs, storeUs, urlsPerSecond }: Cost, more: string[] = []): void =>
    printLine(what, [stand, cpuUs.toFixed(1), storeUs.toFixed(1), urlsPerSecond.toFixed(0), ...more].map(String));

  line("new", synced, [(statSync(join(folder, "state.sqlite")).size / stand).toFixed(0)]);
  line("new, without fsync", unsynced);
  line("known, never fetched", await open("power", (worker) => worker.measured(scattered(0, stand))));
  const fetched = scattered(PORTION, stand);
  await open("process", (worker) => worker.complete(fetched, PORTION));
  line("known, fetched", await open("power", (worker) => worker.measured(fetched)));
  return stand;
}

function printLine(what: string, cells: readonly string[]): void {
  process.stdout.write(`${what.padEnd(22)}${cells.map((cell) => cell.padStart(14)).join("")}\n`);
}

/** URLs in the order in which they are found. */
function from(first: number): Urls {
  return { at: (place) => first + place };
}

/** Messages from all over the first `count` URLs, none of them twice. */
function scattered(first: number, count: number): Urls {
  const messages = Math.floor(count / LINKS);
  return {
    at: (place) => ((Math.floor((first + place) / LINKS) * STRIDE) % messages) * LINKS + (place % LINKS),
  };
}

function progress(before: number, size: number): (done: number) => void {
  return (done) => process.stderr.write(`${((before + done) / 1e6).toFixed(1)} of ${size / 1e6} million rows\n`);
}

/** URLs by number. */
interface Urls {
  at(place: number): number;
}

interface Cost {
  /** Of all threads, and of the store's alone, for each URL. */
  cpuUs: number;
  storeUs: number;
  urlsPerSecond: number;
}

interface Worker {
  /** Passes the first `count` of the URLs through Discover. Each time so many are done that it is worth telling, `tell` is told. */
  discover(urls: Urls, count: number, tell?: (done: number) => void): Promise<void>;
  /** The cost of the URLs after the first WARMED. */
  measured(urls: Urls): Promise<Cost>;
  /** Writes what Fetch would have written when it was done with them. */
  complete(urls: Urls, count: number): Promise<void>;
}

/** A worker that has just started, so that its cache knows nothing. */
async function withWorker<T>(folder: string, durability: string, web: Web, run: (worker: Worker) => Promise<T>): Promise<T> {
  const flags = ["--scope", "any", "--allow-address", "127.0.0.0/8", "--data", folder, "--durability", durability];
  const options = parseOptions(["http://www.site-0.test/", ...flags]);
  if (options === "help") throw new Error("these flags ask for no help");
  const opened = await openCrawl(options, (_level, message) => process.stderr.write(`${message}\n`));
  try {
    return await run(workerOf(opened, web));
  } finally {
    await opened.close();
  }
}

function workerOf(opened: OpenedCrawl, web: Web): Worker {
  const config = withoutTraps(opened.config);
  const fail = (error: Error): never => {
    throw error;
  };
  const services = crawlWorker({ ports: opened, config, fetchers: 1, onBroken: fail });
  const instance = discover.make(config, services);
  const run: Worker["discover"] = async (urls, count, tell) => {
    for (let done = 0, told = 0; done < count; ) {
      const messages: DiscoverMessage[] = [];
      for (; messages.length < limits.queuePull && done < count; done += LINKS) messages.push(messageAt(web, urls, done));
      await bundle(instance, messages);
      if (done - told < PROGRESS_URLS) continue;
      told = done;
      tell?.(done);
    }
  };
  return {
    discover: run,
    async measured(urls) {
      await run(urls, WARMED);
      const before = { cpu: process.cpuUsage(), store: storeThreadUs(), at: performance.now() };
      await run({ at: (place) => urls.at(WARMED + place) }, MEASURED);
      const { user, system } = process.cpuUsage(before.cpu);
      return {
        cpuUs: (user + system) / MEASURED,
        storeUs: (storeThreadUs() - before.store) / MEASURED,
        urlsPerSecond: (MEASURED * 1000) / (performance.now() - before.at),
      };
    },
    complete: (urls, count) => complete(services, web, urls, count),
  };
}

type Instance = ReturnType<typeof discover.make>;

/** What the source of the discover queue and the engine do with the messages of one pull. */
async function bundle(instance: Instance, messages: readonly DiscoverMessage[]): Promise<void> {
  const context = { emit: () => {}, afterCommit: () => {} };
  await instance.startBundle?.();
  await Promise.all(messages.map((message) => instance.process(message, context)));
  await instance.finishBundle?.(context);
}

function messageAt(web: Web, urls: Urls, first: number): DiscoverMessage {
  const numbers = Array.from({ length: LINKS }, (_, link) => urls.at(first + link));
  return {
    source: "link",
    depth: 1,
    hops: 0,
    kind: "page",
    urls: numbers.map((number) => urlOfNumber(hostOf(web, number), number)),
  };
}

/** The host of rank k comes about as often as 1 / k says. */
function hostOf({ hosts, home }: Web, url: number): number {
  const drawn = url % LINKS < home ? Math.floor(url / LINKS) : url + hosts;
  return Math.floor((hosts + 1) ** unit(drawn)) - 1;
}

/** From 0 to 1, the same for the same number: the last steps of MurmurHash3. */
function unit(number: number): number {
  let bits = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
}

async function complete({ tables, clock }: CrawlServices, web: Web, urls: Urls, count: number): Promise<void> {
  for (let place = 0; place < count; place += LINKS) {
    const numbers = Array.from({ length: LINKS }, (_, link) => urls.at(place + link));
    const keys = numbers.map((number) => {
      const host = hostOf(web, number);
      return rowKey(paceKeyOfNumber(host), urlIdentity(urlOfNumber(host, number)).urlId);
    });
    const rows = await tables.urls.get(keys);
    const done = rows.map((row, index) => {
      if (row === undefined) throw new Error(`a URL that was discovered has no record: ${keys[index]}`);
      const nextFetchAt = clock.now() + limits.revisitMsFirst;
      return tables.urls.compareAndSet(
        keys[index]!,
        { ...row.value, version: 1, nextFetchAt, lastOutcome: "fetched" },
        row.rev,
      );
    });
    await Promise.all(done);
  }
}

/** Millions of URLs of one form at one host are what a trap looks like. */
function withoutTraps(config: CrawlConfig): CrawlConfig {
  const none = Number.MAX_SAFE_INTEGER;
  const lifted = { urlsPerTemplate: none, urlsPerQueryTemplate: none, templatesPerHost: none };
  return { ...config, pagesPerHost: none, policies: [{ host: "*", limits: lifted }] };
}

/** CPU of the thread that owns the database so far, us: its threads are named in /proc, sched(7) counts their ns. */
function storeThreadUs(): number {
  for (const thread of readdirSync("/proc/self/task")) {
    const of = (file: string): string => readFileSync(`/proc/self/task/${thread}/${file}`, "utf8");
    if (of("comm").trim() === "store") return Number(of("schedstat").split(" ")[0]) / 1000;
  }
  return Number.NaN;
}
