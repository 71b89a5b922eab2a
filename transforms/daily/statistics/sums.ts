// What is added up, over hosts, statuses, refusals and the whole crawl? Each an accumulator of a fixed size.
import type { CombineDefinition } from "../../../beam/dofn.ts";
import { hostCounts } from "../../../core/statistics/fetch-counts.ts";
import { addSums, addTimes, noSums } from "../../../core/statistics/sums.ts";
import { type Codec, list, optional, struct, type TypeOf, text, uint } from "../../../schemas/codec.ts";
import type { SkipEvent } from "../../../schemas/events.ts";

type Names<K extends string> = { [N in K]: Codec<number> };

function uints<const K extends string>(names: readonly K[]): Names<K> {
  return Object.fromEntries(names.map((name) => [name, uint])) as Names<K>;
}

const gap = struct({ gapMs: uint, gapOwedMs: uint });

/** Of one host. */
export const hostSums = struct({
  counts: struct(uints(hostCounts)),
  latencies: list(uint),
  gap: optional(gap),
  dayGapMs: optional(uint),
});
export type HostSums = TypeOf<typeof hostSums>;

export function noHostSums(): HostSums {
  return { counts: noSums(hostCounts), latencies: [] };
}

export const sumHost: CombineDefinition<HostSums, HostSums> = {
  form: "combine",
  name: "dailySumHost",
  input: hostSums,
  accumulator: hostSums,
  create: noHostSums,
  add: mergedHost,
  merge: mergedHost,
};

function mergedHost(into: HostSums, other: HostSums): HostSums {
  const either = into.gap ?? other.gap;
  const dayGapMs = into.dayGapMs ?? other.dayGapMs;
  return {
    counts: addSums(into.counts, other.counts),
    latencies: addTimes(into.latencies, other.latencies),
    ...(either === undefined ? {} : { gap: either }),
    ...(dayGapMs === undefined ? {} : { dayGapMs }),
  };
}

const crawlCounts = [
  ...hostCounts,
  ...(["hosts", "documentsChanged", "documentsGone", "duplicates", "violations", "eventsTwice", "linesBad"] as const),
] as const;
export type CrawlCount = (typeof crawlCounts)[number];

/** Of the whole crawl; what is absent is none. */
export const crawlSums = struct(
  Object.fromEntries(crawlCounts.map((name) => [name, optional(uint)])) as Record<
    CrawlCount,
    ReturnType<typeof optional<number>>
  >,
);
export type CrawlSums = TypeOf<typeof crawlSums>;

export const sumCrawl: CombineDefinition<CrawlSums, CrawlSums> = {
  form: "combine",
  name: "dailySumCrawl",
  input: crawlSums,
  accumulator: crawlSums,
  create: () => noSums(crawlCounts),
  add: (into, value) => addSums(into as Record<CrawlCount, number>, value as Partial<Record<CrawlCount, number>>),
  merge: (into, other) => addSums(into as Record<CrawlCount, number>, other as Partial<Record<CrawlCount, number>>),
};

/** Of one outcome and status. */
export const statusSums = struct({ outcome: text, status: optional(uint), count: uint, wireBytes: uint });
export type StatusSums = TypeOf<typeof statusSums>;

export const sumStatus: CombineDefinition<StatusSums, StatusSums> = {
  form: "combine",
  name: "dailySumStatus",
  input: statusSums,
  accumulator: statusSums,
  create: () => ({ outcome: "", count: 0, wireBytes: 0 }),
  add: mergedStatus,
  merge: mergedStatus,
};

function mergedStatus(into: StatusSums, other: StatusSums): StatusSums {
  const named = into.count > 0 ? into : other;
  return { ...named, count: into.count + other.count, wireBytes: into.wireBytes + other.wireBytes };
}

/** Of one reason and source. */
export const refusalSums = struct({ reason: text, source: optional(text), count: uint, samples: list(text) });
export type RefusalSums = TypeOf<typeof refusalSums>;

const SAMPLES_MAX = 3;

export function refusalOf({ reason, source, count, samples }: SkipEvent): RefusalSums {
  return { reason, ...(source === undefined ? {} : { source }), count, samples: firstOf(samples) };
}

export const sumRefusal: CombineDefinition<RefusalSums, RefusalSums> = {
  form: "combine",
  name: "dailySumRefusal",
  input: refusalSums,
  accumulator: refusalSums,
  create: () => ({ reason: "", count: 0, samples: [] }),
  add: mergedRefusal,
  merge: mergedRefusal,
};

function mergedRefusal(into: RefusalSums, other: RefusalSums): RefusalSums {
  const named = into.reason === "" ? other : into;
  return { ...named, count: into.count + other.count, samples: firstOf([...into.samples, ...other.samples]) };
}

/** In the order of their names, so that it is the same whatever came first. */
function firstOf(samples: readonly string[]): string[] {
  return [...new Set(samples)].sort().slice(0, SAMPLES_MAX);
}

/** How many fetches of the day gave a body. */
export const sumCopies: CombineDefinition<number, number> = {
  form: "combine",
  name: "dailySumCopies",
  input: uint,
  accumulator: uint,
  create: () => 0,
  add: (into, value) => into + value,
  merge: (into, other) => into + other,
};
