// What does a whole daily run cost over so many URL records? Time of each phase, CPU and peak memory, of the command itself in a process of its own.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { urlIdentity } from "../../core/url/keys.ts";
import { systemClock } from "../../io/clock.ts";
import { fileEvents } from "../../io/objects/events-files.ts";
import { realFiles } from "../../io/objects/file-layer.ts";
import { seededRandom } from "../../io/random.ts";
import { openSqliteStore } from "../../io/stores/sqlite-store.ts";
import type { PhaseReport } from "../../pipelines/daily/run-daily.ts";
import { crawlTables, durableQueueNames, type RawTables, tableNames } from "../../pipelines/worker.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Random } from "../../ports/random.ts";
import type { FetchEvent } from "../../schemas/events.ts";
import { limits } from "../../schemas/limits.ts";
import { dueKey, rowKey } from "../../schemas/row-key.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import { configOf, hostOfNumber, paceKeyOfNumber, recordOf, urlOfNumber } from "./capacity/given.ts";
import { costOf } from "./process-cost.ts";

const DAY = "2026-11-30";
const AS_OF = Date.parse("2026-12-01T00:00:00Z");
const DAY_MS = 86_400_000;
const AT_ONCE = 1_000; // records of one write
const SEED = "daily bench";

export async function benchDaily(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      urls: { type: "string", default: "1000000" },
      hosts: { type: "string", default: "10000" },
      home: { type: "string", default: tmpdir() },
    },
  });
  const [urls, hosts] = [Number(values.urls), Number(values.hosts)];
  const folder = mkdtempSync(join(values.home, "gleaner-bench-daily-"));
  try {
    process.stderr.write(`making ${urls} records of ${hosts} hosts in ${folder}\n`);
    await makeFolder(folder, urls, hosts);
    const command = fileURLToPath(new URL("../../pipelines/commands/daily.ts", import.meta.url));
    const cost = await costOf(command, ["--data", folder, "--date", DAY, "--json"]);
    if (cost.code !== 0) throw new Error(`npm run daily ended with ${cost.code}`);
    const { phases } = JSON.parse(cost.stdout) as { phases: PhaseReport[] };
    const out = (line: string): void => void process.stdout.write(`${line}\n`);
    out(`${urls} URL records of ${hosts} hosts, ${Math.round(urls / EVENTS_ONE_IN)} fetch events`);
    for (const { phase, seconds, tables } of phases)
      out(
        `${phase.padEnd(12)} ${seconds.toFixed(1).padStart(7)} s  ${tables.map(({ table, rows }) => `${table} ${rows}`).join(", ")}`,
      );
    out(
      `in all ${cost.seconds.toFixed(0)} s, ${(cost.cpuMs / 1000).toFixed(0)} s of CPU, ${cost.peakMb.toFixed(0)} MB at the peak`,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const EVENTS_ONE_IN = 10; // URLs that were fetched on the day

/** As a crawl leaves it that visited all its pages a few times. */
async function makeFolder(folder: string, urls: number, hosts: number): Promise<void> {
  const random = seededRandom(SEED);
  const store = await openSqliteStore({ folder, tables: tableNames, queues: durableQueueNames, durability: "process" });
  const raw = Object.fromEntries(tableNames.map((name) => [name, store.table(name)])) as RawTables;
  const tables = crawlTables(raw, random);
  await store.meta.set("config", JSON.stringify(configOf(limits.delayMs)));
  for (let at = 0; at < hosts; at += AT_ONCE)
    await tables.hosts.insertIfAbsent(
      Array.from({ length: Math.min(AT_ONCE, hosts - at) }, (_, index) => ({
        key: rowKey(paceKeyOfNumber(at + index)),
        value: hostOfNumber(AS_OF - DAY_MS),
      })),
    );
  const clock: Clock = systemClock();
  const where = { folder: join(folder, "events"), files: realFiles, clock: { ...clock, now: () => AS_OF - 1 }, random };
  const events = await fileEvents({ ...where, durability: "process" });
  for (let at = 0; at < urls; at += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, urls - at) }, (_, index) => given(at + index, hosts, random));
    await tables.urls.insertIfAbsent(some.map(({ key, value }) => ({ key, value })));
    await tables.due.put(some.map(({ due }) => ({ key: due, rev: "", value: new Uint8Array() })));
    await events.publish(
      "fetch",
      some.filter((_, index) => index % EVENTS_ONE_IN === 0).map(({ event }) => event),
    );
  }
  await events.close();
  await store.close();
}

function given(number: number, hosts: number, random: Random) {
  const url = urlOfNumber(number % hosts, Math.floor(number / hosts));
  const paceKey = paceKeyOfNumber(number % hosts);
  const { urlId } = urlIdentity(url);
  const lastFetchAt = AS_OF - Math.ceil(random.next() * 20 * DAY_MS);
  const value: UrlState = recordOf(url, {
    ...{ version: 4, docVersion: 2, indexed: true, priority: 2, lastOutcome: "unchanged", lastStatus: 304, lastFetchAt },
    discoveredAt: AS_OF - 60 * DAY_MS,
    nextFetchAt: lastFetchAt + Math.ceil((1 + random.next() * 29) * DAY_MS),
    quality: Math.floor(random.next() * 101),
    contentHash: Buffer.alloc(20, number % 251),
    simHash: simHashOf(number, random),
    changeHistory: Array.from({ length: 3 }, () => ({
      afterMs: Math.ceil(random.next() * 10) * DAY_MS,
      changed: random.next() < 0.3,
    })),
  });
  const due = dueKey({ paceKey, urlId, priority: value.priority, dueAt: value.nextFetchAt });
  const event: FetchEvent = {
    ...{
      at: lastFetchAt,
      url,
      urlId,
      hostKey: `https://${paceKey}`,
      paceKey,
      kind: "page",
      leaseId: random.token().slice(0, 12),
    },
    ...{ version: 3, outcome: "unchanged", status: 304, latencyMs: 120, durationMs: 150, wireBytes: 400 },
  };
  return { key: rowKey(paceKey, urlId), value, due, event };
}

/** A fifth stands in groups of ten that differ in two bits at most; the rest in nothing like each other. */
function simHashOf(number: number, random: Random): Buffer {
  const hash = Buffer.alloc(8);
  const grouped = number % 5 === 0;
  const source = grouped ? seededRandom(`group ${Math.floor(number / 50)}`) : random;
  hash.writeUInt32BE(Math.floor(source.next() * 2 ** 32), 0);
  hash.writeUInt32BE(Math.floor(source.next() * 2 ** 32), 4);
  if (grouped) hash[7] = hash[7]! ^ (number % 3);
  return hash;
}
