// What do the stores take? Operations a second of each adapter, and the calls that a crawled page makes to Google's services, on emulators.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../../io/clock.ts";
import { fileArchive } from "../../io/objects/archive-files.ts";
import { realFiles } from "../../io/objects/file-layer.ts";
import { gcsArchive } from "../../io/objects/gcs/archive.ts";
import { openBucket } from "../../io/objects/gcs/bucket.ts";
import { memoryQueue } from "../../io/queues/memory-queue.ts";
import { openPubsub } from "../../io/queues/pubsub-client.ts";
import { pubsubNames } from "../../io/queues/pubsub-names.ts";
import { pubsubQueue } from "../../io/queues/pubsub-queue.ts";
import { systemRandom } from "../../io/random.ts";
import { bigtableClient } from "../../io/stores/bigtable/client.ts";
import { openBigtableStore } from "../../io/stores/bigtable/store.ts";
import { memoryTable } from "../../io/stores/memory-table.ts";
import { openSqliteStore } from "../../io/stores/sqlite-store.ts";
import type { Archive } from "../../ports/archive.ts";
import type { Queue } from "../../ports/queue.ts";
import { recordTable, type VersionedTable } from "../../ports/versioned-table.ts";
import { segmentPlace } from "../../schemas/segment.ts";
import { startGrpcFaultProxy } from "../emulators/grpc-fault-proxy.ts";
import { startHttpFaultProxy } from "../emulators/http-fault-proxy.ts";
import { type Emulators, startEmulators } from "../emulators/start.ts";
import { type CloudCrawl, PROJECT, setUpCrawl, withEnvironment } from "../lib/cloud-crawl.ts";
import { crawlSynthetic, startSyntheticWeb } from "./synthetic-crawl.ts";

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const [clock, random] = [systemClock(), systemRandom()];

export async function benchStores(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { hosts: { type: "string", default: "20" }, pages: { type: "string", default: "50" } },
  });
  const emulators = await startEmulators({ bigtable: true, pubsub: true, storage: true }, { tell: say });
  const undo = withEnvironment(emulators.env);
  try {
    await adapters(await setUpCrawl());
    await callsOfPages(emulators, values.hosts, values.pages);
  } finally {
    undo();
    await emulators.stop();
  }
}

const ROUNDS = 20;
const SIDE_BY_SIDE = 50;
const BATCH = 100;

/** Of all adapters, in one process with the emulators beside it: read the ratios. */
async function adapters({ crawl }: CloudCrawl): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-bench-"));
  const sqlite = await openSqliteStore({ folder, tables: ["urls"], queues: ["host"], durability: "power" });
  const bigtable = bigtableClient({ project: PROJECT });
  const store = await openBigtableStore({
    client: bigtable,
    instance: "gleaner",
    tablePrefix: crawl,
    tables: ["urls", "segments"],
  });
  const client = await openPubsub({ project: PROJECT });
  const { host } = pubsubNames(PROJECT, crawl).queues;
  const pubsub = pubsubQueue({ client, names: host, log: () => {} });
  const bucket = await openBucket({ bucket: `${PROJECT}-${crawl}`, project: PROJECT, clock, random });
  const segments = recordTable(store.table("segments"), segmentPlace, random);
  const files = await fileArchive({ folder, files: realFiles, clock, random, durability: "power", warcinfo: () => [] });
  const objects = gcsArchive({ bucket, folder: "pages", segments, clock, random, warcinfo: () => [] });

  say(`rows, messages and records a second; ${SIDE_BY_SIDE} side by side where nothing else is said, batches of ${BATCH}`);
  await table("memory", memoryTable());
  await table("SQLite", sqlite.table("urls"));
  await table("Bigtable", store.table("urls"));
  await queue("memory", memoryQueue());
  await queue("SQLite", sqlite.queue("host"));
  await queue("Pub/Sub", pubsub);
  await archive("files", files);
  await archive("Cloud Storage", objects);

  await Promise.all([files.close(), objects.close(), pubsub.close(), sqlite.close()]);
  await Promise.all([client.close(), bigtable.close()]);
  rmSync(folder, { recursive: true, force: true });
}

let rows = 0;
const row = () => ({ key: `k/${++rows}`, rev: random.token(), value: new Uint8Array(150) });

async function table(name: string, on: VersionedTable): Promise<void> {
  const many = Array.from({ length: ROUNDS * BATCH }, row);
  const batches = Array.from({ length: ROUNDS }, (_, at) => many.slice(at * BATCH, (at + 1) * BATCH));
  const one = many.slice(0, SIDE_BY_SIDE);
  const rates = [
    await rate("insert, batches", many.length, () => inTurn(batches, (some) => on.insertIfAbsent(some))),
    await rate("get, batches", many.length, () => inTurn(batches, (some) => on.get(some.map(({ key }) => key)))),
    await rate("get, one after the other", ROUNDS, () => inTurn(one.slice(0, ROUNDS), ({ key }) => on.get([key]))),
    await rate("get", one.length, () => Promise.all(one.map(({ key }) => on.get([key])))),
    await rate("compareAndSet", one.length, () =>
      Promise.all(one.map(({ rev, ...each }) => on.compareAndSet({ ...each, rev: random.token() }, rev))),
    ),
    await rate("put, batches", many.length, () => inTurn(batches, (some) => on.put(some))),
    await rate(`scan of ${BATCH}`, ROUNDS * BATCH, () =>
      inTurn(batches, () => on.scan({ from: "k/", to: "k0", limit: BATCH })),
    ),
  ];
  say(`table   ${name.padEnd(14)}${rates.join("  ")}`);
}

async function queue(name: string, on: Queue): Promise<void> {
  const bodies = Array.from({ length: ROUNDS * BATCH }, () => new Uint8Array(200));
  const published = await rate("publish, batches", bodies.length, () =>
    inTurn(
      Array.from({ length: ROUNDS }, (_, at) => bodies.slice(at * BATCH, (at + 1) * BATCH)),
      (some) => on.publish(some),
    ),
  );
  const pulled = await rate("pull and acknowledge", bodies.length, async () => {
    for (let count = 0; count < bodies.length; ) {
      const messages = await on.pull(BATCH);
      count += messages.length;
      await on.acknowledge(messages.map(({ id }) => id));
      if (messages.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  say(`queue   ${name.padEnd(14)}${published}  ${pulled}`);
}

async function archive(name: string, on: Archive): Promise<void> {
  const records = Array.from({ length: 500 }, () => [{ bytes: [Buffer.from(random.token().repeat(500))] }]);
  say(
    `archive ${name.padEnd(14)}${await rate("append of 11 KB, all at once", records.length, () => Promise.all(records.map((each) => on.append(each))))}`,
  );
}

async function inTurn<T>(items: readonly T[], run: (item: T) => Promise<unknown>): Promise<void> {
  for (const item of items) await run(item);
}

async function rate(what: string, count: number, run: () => Promise<unknown>): Promise<string> {
  const began = performance.now();
  await run();
  return `${what} ${Math.round((1000 * count) / (performance.now() - began)).toLocaleString("en")}`;
}

/** A whole crawl through counting proxies. Calls that nobody waits for long are among them: pulls of empty queues, deadlines moved on. */
async function callsOfPages(emulators: Emulators, hosts: string, pagesOfHost: string): Promise<void> {
  const cloud = await setUpCrawl();
  const proxies = {
    Bigtable: await startGrpcFaultProxy({ target: emulators.endpoint("bigtable") }),
    "Pub/Sub": await startGrpcFaultProxy({ target: emulators.endpoint("pubsub") }),
    "Cloud Storage": await startHttpFaultProxy({ target: emulators.endpoint("storage") }),
  };
  const undo = withEnvironment({
    BIGTABLE_EMULATOR_HOST: proxies.Bigtable.endpoint,
    PUBSUB_EMULATOR_HOST: proxies["Pub/Sub"].endpoint,
    STORAGE_EMULATOR_HOST: `http://${proxies["Cloud Storage"].endpoint}`,
  });
  const web = await startSyntheticWeb(hosts, pagesOfHost);
  const { pages, seconds, cpuMs } = await crawlSynthetic(web.port, [], cloud.flags);
  web.stop();
  undo();
  say(
    `\n${pages} pages of ${hosts} hosts, each new and with 60 links: ${seconds.toFixed(0)} s, ${(cpuMs / pages).toFixed(1)} ms CPU a page; calls a page`,
  );
  for (const [service, proxy] of Object.entries(proxies)) {
    const counts = Object.entries(proxy.counts()).sort(([, a], [, b]) => b - a);
    const all = counts.reduce((sum, [, count]) => sum + count, 0);
    const each = counts.map(([method, count]) => `${method} ${(count / pages).toFixed(2)}`);
    say(`${service.padEnd(14)}${(all / pages).toFixed(2).padStart(6)}   ${each.join(", ")}`);
    await proxy.stop();
  }
}
