// The crawl as a graph: the picture of docs/architecture.md in code. The loop closes through the queues, which the transforms publish to.
import { buildPipeline } from "../beam/pipeline.ts";
import type { CrawlConfig } from "../schemas/crawl-config.ts";
import { discover } from "../transforms/discover.ts";
import { fetchPages } from "../transforms/fetch.ts";
import { hostFrontier } from "../transforms/host-frontier.ts";
import { readDiscover, readHost, readReparse } from "../transforms/read-queues.ts";
import { reparse } from "../transforms/reparse.ts";
import { sweep } from "../transforms/sweep.ts";

export const crawlPipeline = (config: CrawlConfig) =>
  buildPipeline((p) => {
    const seen = p.source("ReadDiscover", readDiscover, {});
    const found = p.each("Discover", discover, config, seen.messages);

    const host = p.source("ReadHost", readHost, {});
    const swept = p.each("Sweep", sweep, {}, host.sweeps);

    const news = p.flatten("HostNews", host.messages, found.wakes, swept.wakes);
    const { leases } = p.keyed("HostFrontier", hostFrontier, config, news);
    p.each("Fetch", fetchPages, {}, p.reshuffle("SpreadLeases", leases));

    const stored = p.source("ReadReparse", readReparse, {});
    p.each("Reparse", reparse, config, stored.messages);
  });

/** Every DoFn of the graph, by which a worker finds them. */
export const crawlDefinitions = [
  readDiscover,
  discover,
  readHost,
  sweep,
  hostFrontier,
  fetchPages,
  readReparse,
  reparse,
] as const;
