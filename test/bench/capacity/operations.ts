// What does one fetch ask of the stores and queues, and what do small hosts add? Counted in a whole crawl of the virtual web.
import { makeWorld, type SimHost, type World } from "../../sim/world.ts";
import { type Counts, crawlWorld } from "./crawled-world.ts";
import { printTable, START, say } from "./given.ts";

const DAY = 86_400_000;
const HOSTS = 40; // some 3,000 pages: a few large hosts, many small ones
const SMALL_SIZES = [1, 3, 10, 30];
const SMALL_HOSTS = 20; // of each size
const SMALL_DAYS = 40;

export async function benchOperations(): Promise<void> {
  const world = makeWorld({ seed: 1, hosts: HOSTS, startAt: START, spanMs: 30 * DAY });
  const crawl = await crawlWorld(world, [`http://${world.hosts[0]!.name}/`]);
  print("first fetches: pages that are discovered, until all are fetched", await crawl.until(2 * DAY));
  print("revisits: a week later, the same pages, some changed, some answered with 304", await crawl.until(9 * DAY));
  await smallHosts();
}

function print(title: string, counts: Counts): void {
  const pages = sum(counts.pages);
  const robots = sum(counts.robots);
  say(`operations of ${title}: ${pages} requests for pages, ${robots} for robots.txt; calls a page (rows in brackets)`);
  const stages = [...counts.tables.keys()].sort();
  const names = [...new Set([...counts.tables.values()].flatMap((calls) => [...calls.keys()]))].sort();
  const cell = (stage: string, name: string): string => {
    const found = counts.tables.get(stage)?.get(name);
    return found === undefined ? "" : `${(found.calls / pages).toFixed(2)} (${(found.rows / pages).toFixed(2)})`;
  };
  const total = (kept: (name: string) => boolean, by: "calls" | "rows"): number => {
    const each = [...counts.tables.values()].flatMap((calls) => [...calls].filter(([name]) => kept(name)));
    return each.reduce((all, [, found]) => all + found[by], 0) / pages;
  };
  printTable(
    ["", ...stages, "all"],
    [
      ...names.map((name) => [
        name,
        ...stages.map((stage) => cell(stage, name)),
        total((each) => each === name, "calls").toFixed(2),
      ]),
      ["all", ...stages.map((stage) => totalOf(counts, stage, pages)), total(() => true, "calls").toFixed(2)],
    ],
  );
  const reads = (name: string): boolean => name.endsWith(".get");
  const scans = (name: string): boolean => name.endsWith(".scan");
  const writes = (name: string): boolean => !reads(name) && !scans(name);
  say(
    `reads ${total(reads, "calls").toFixed(2)} calls of ${total(reads, "rows").toFixed(2)} rows, scans ${total(scans, "calls").toFixed(2)} of ${total(scans, "rows").toFixed(2)}, writes ${total(writes, "calls").toFixed(2)} of ${total(writes, "rows").toFixed(2)}`,
  );
  const messages = [...counts.queues].map(
    ([name, { messages: count, bytes }]) => `${name} ${(count / pages).toFixed(2)} (${(bytes / pages).toFixed(0)} B)`,
  );
  const { records, bytes } = counts.archived;
  say(
    `queue messages ${messages.join(", ")}; WARC records ${(records / pages).toFixed(2)} (${(bytes / pages).toFixed(0)} B before gzip)\n`,
  );
}

function totalOf(counts: Counts, stage: string, pages: number): string {
  return ([...(counts.tables.get(stage)?.values() ?? [])].reduce((all, { calls }) => all + calls, 0) / pages).toFixed(2);
}

/** Hosts of a few pages whose robots rules have expired at each visit: how many requests are for robots.txt? */
async function smallHosts(): Promise<void> {
  const world = makeWorld({ seed: 2, hosts: SMALL_SIZES.length * SMALL_HOSTS, startAt: START, spanMs: 400 * DAY });
  const sizeOf = (host: SimHost): number => SMALL_SIZES[host.index % SMALL_SIZES.length]!;
  for (const host of world.hosts) Object.assign(host, calm, { pages: sizeOf(host) });
  const crawl = await crawlWorld(world, seedsOf(world, sizeOf));
  await crawl.until(DAY);
  const counts = await crawl.until((1 + SMALL_DAYS) * DAY);
  say(`robots.txt of small hosts: ${SMALL_HOSTS} of each size, ${SMALL_DAYS} days of revisits, cached for 24 h`);
  printTable(
    ["pages of a host", "page requests a host and day", "robots.txt a host and day", "robots.txt a page request"],
    SMALL_SIZES.map((size) => {
      const names = world.hosts.filter((host) => sizeOf(host) === size).map(({ name }) => name);
      const pages = sum(counts.pages, names);
      const robots = sum(counts.robots, names);
      const days = SMALL_HOSTS * SMALL_DAYS;
      return [size, (pages / days).toFixed(3), (robots / days).toFixed(3), (robots / pages).toFixed(2)];
    }),
  );
}

/** Nothing goes wrong at these hosts, and their pages change at the rates of the world. */
const calm: Partial<SimHost> = {
  ...{
    robots: "rules",
    crawlDelays: [0, 0],
    disallows: [false, false],
    latencyMs: 50,
    linksAway: 0,
    trap: undefined,
    downUntil: 0,
  },
  ...{ throttles: 0, stalls: 0, resets: 0, serverErrors: 0, redirects: 0 },
};

function seedsOf(world: World, sizeOf: (host: SimHost) => number): string[] {
  return world.hosts.flatMap((host) => Array.from({ length: sizeOf(host) }, (_, page) => `http://${host.name}/p${page}`));
}

function sum(counts: ReadonlyMap<string, number>, names?: readonly string[]): number {
  return (names ?? [...counts.keys()]).reduce((all, name) => all + (counts.get(name) ?? 0), 0);
}
