// npm run bench -- NAME: measurements, never judged; each prints its figures beside what they are to be read against.
import { benchCapacity } from "./capacity/capacity.ts";
import { benchClusters } from "./clusters/clusters.ts";
import { benchCrawl } from "./crawl.ts";
import { benchDaily } from "./daily.ts";
import { benchDiscover } from "./discover.ts";
import { benchEngine } from "./engine/engine.ts";
import { benchFreshness } from "./freshness/freshness.ts";
import { benchMemory } from "./memory.ts";
import { benchParsers } from "./parsers.ts";
import { benchStores } from "./stores.ts";

const benches: Record<string, { what: string; run: (args: string[]) => Promise<void> }> = {
  crawl: { what: "a synthetic web crawled without delays, beside what undici and the parsers cost alone", run: benchCrawl },
  discover: {
    what: "new and known URLs a second into the SQLite table, by its size (--rows 1,5,10 millions, --hosts, --home)",
    run: benchDiscover,
  },
  capacity: {
    what: "grants, turns, skew, bytes and operations of a large crawl, by size (capacity PART for one)",
    run: benchCapacity,
  },
  engine: {
    what: "leases a second through Prism and Flink, state requests and CPU of each, beside the prototype's (--help)",
    run: benchEngine,
  },
  freshness: {
    what: "freshness of a simulated web at equal visits: uniform, by score, and the optimum (--pages 4000 --intervals 10,23 --seed 1)",
    run: benchFreshness,
  },
  clusters: {
    what: "near-duplicates of N synthetic documents, a million where none is told, and the curve to ten",
    run: benchClusters,
  },
  daily: {
    what: "time of each phase, CPU and peak memory of a daily run over a million URL records (--urls, --hosts, --home)",
    run: benchDaily,
  },
  memory: {
    what: "peak memory of crawls of 10,000 and 100,000 pages (--pages 10000,100000), some 20 minutes",
    run: benchMemory,
  },
  stores: {
    what: "operations a second of each adapter, and a page's calls to Google's services, on emulators (--hosts 20 --pages 50)",
    run: benchStores,
  },
  parsers: { what: "robots files, verdicts, sitemaps and pages a second, on one core", run: benchParsers },
};

const [name, ...args] = process.argv.slice(2);
const bench = name === undefined ? undefined : benches[name];
if (bench === undefined) {
  const list = Object.entries(benches).map(([each, { what }]) => `  npm run bench -- ${each}   ${what}`);
  process.stderr.write(`which bench?\n${list.join("\n")}\n`);
  process.exitCode = 2;
} else {
  await bench.run(args);
}
