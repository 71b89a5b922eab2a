// To which part of the crawler does a frame of the grants' profile belong?

export const BENCH = "(the bench: Fetch, clock)";

const BENCH_FUNCTIONS = new Set(["completeLease", "takeLease"]);

export function benchFrame({ url, functionName }: { url: string; functionName: string }): string | undefined {
  if (BENCH_FUNCTIONS.has(functionName) && url.includes("/capacity/")) return BENCH;
  return undefined;
}

const GROUPS: readonly [part: string, group: string][] = [
  ["/beam/embedded/timers", "engine: timers"],
  ["/beam/embedded/", "engine: bundles, keys, stages"],
  ["/io/stores/", "tables in memory"],
  ["/io/queues/", "host queue"],
  ["/io/random", "lease ids"],
  ["/io/metrics", "metrics"],
  ["/schemas/codec", "codecs"],
  ["/schemas/row-key", "row keys"],
  ["/core/robots/", "robots rules"],
  ["/transforms/robots-reader", "robots rules"],
  ["/core/url/", "URL keys"],
  ["/core/frontier/", "core: frontier"],
  ["/core/politeness/", "core: host clock"],
  ["/transforms/", "transform HostFrontier"],
  ["/ports/versioned-table", "codecs"],
  ["/test/lib/virtual-clock", BENCH],
  ["/test/bench/", BENCH],
];

export function groupOf({ url }: { url: string }): string | undefined {
  return GROUPS.find(([part]) => url.includes(part))?.[1];
}
