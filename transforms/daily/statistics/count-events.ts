// What does each event count as? Once, however often it came: doubles meet under what makes an event one.
import { keyed } from "../../../beam/coders.ts";
import type { DoFnDefinition, GroupedDefinition, Keyed } from "../../../beam/dofn.ts";
import { countsOf, hostCounts } from "../../../core/statistics/fetch-counts.ts";
import { type RequestTimes, smallestGap, timesOf } from "../../../core/statistics/gaps.ts";
import { addSums, addTime, noSums } from "../../../core/statistics/sums.ts";
import { struct, type TypeOf, uint } from "../../../schemas/codec.ts";
import { eventShapes, type FetchEvent, type IndexEvent, type SkipEvent } from "../../../schemas/events.ts";
import { CRAWL } from "./read-events.ts";
import { crawlSums, hostSums, noHostSums, refusalOf, refusalSums, statusSums } from "./sums.ts";

const requestTimes = struct({ sentAt: uint, answeredAt: uint });

const ofFetches = {
  hosts: keyed(hostSums),
  statuses: keyed(statusSums),
  bodies: keyed(uint),
  requests: keyed(requestTimes),
  crawl: keyed(crawlSums),
};

/** Under the lease, the outcome and the URL. The first counts: a lease that a dead worker left may have been carried out again. */
export const countFetch: GroupedDefinition<FetchEvent, typeof ofFetches, Record<never, never>, unknown> = {
  form: "grouped",
  name: "dailyCountFetch",
  input: eventShapes.fetch,
  outputs: ofFetches,
  make: () => ({
    async process(_attempt, values, context) {
      const { one: event, more } = await once(values);
      if (event === undefined) return;
      const { paceKey, outcome, status, wireBytes = 0, latencyMs, contentHash } = event;
      const counts = countsOf(event);
      const latencies = latencyMs === undefined ? [] : addTime([], latencyMs);
      context.emit("hosts", { key: paceKey, value: { counts: addSums(noSums(hostCounts), counts), latencies } });
      const times = timesOf(event);
      if (times !== undefined) context.emit("requests", { key: paceKey, value: times });
      const told = { outcome, ...(status === undefined ? {} : { status }), count: 1, wireBytes };
      context.emit("statuses", { key: `${outcome} ${status ?? ""}`, value: told });
      if (outcome === "fetched" && contentHash !== undefined) context.emit("bodies", { key: contentHash, value: 1 });
      context.emit("crawl", { key: CRAWL, value: { ...counts, ...(more > 0 ? { eventsTwice: more } : {}) } });
    },
  }),
};

/** Under the pace key: its requests of a day are in memory together, which its clock bounds. */
export const dayGaps: GroupedDefinition<
  TypeOf<typeof requestTimes>,
  { hosts: typeof ofFetches.hosts },
  Record<never, never>,
  unknown
> = {
  form: "grouped",
  name: "dailyDayGaps",
  input: requestTimes,
  outputs: { hosts: keyed(hostSums) },
  make: () => ({
    async process(paceKey, values, context) {
      const requests: RequestTimes[] = [];
      for await (const times of values) requests.push(times);
      const dayGapMs = smallestGap(requests);
      if (dayGapMs !== undefined) context.emit("hosts", { key: paceKey, value: { ...noHostSums(), dayGapMs } });
    },
  }),
};

/** Under the URL and the document's version. */
export const countDocument: GroupedDefinition<IndexEvent, { crawl: typeof ofFetches.crawl }, Record<never, never>, unknown> = {
  form: "grouped",
  name: "dailyCountDocument",
  input: eventShapes.index,
  outputs: { crawl: keyed(crawlSums) },
  make: () => ({
    async process(_document, values, context) {
      const { one: event, more } = await once(values);
      if (event === undefined) return;
      const counted = event.op === "upsert" ? { documentsChanged: 1 } : { documentsGone: 1 };
      context.emit("crawl", { key: CRAWL, value: { ...counted, ...(more > 0 ? { eventsTwice: more } : {}) } });
    },
  }),
};

async function once<T extends { at: number }>(values: AsyncIterable<T>): Promise<{ one: T | undefined; more: number }> {
  let one: T | undefined;
  let more = -1;
  for await (const value of values) {
    if (one === undefined || isBefore(value, one)) one = value;
    more++;
  }
  return { one, more };
}

/** By time, then by what they tell, so that the same one counts in whatever order they come. */
function isBefore<T extends { at: number }>(one: T, other: T): boolean {
  return one.at === other.at ? JSON.stringify(one) < JSON.stringify(other) : one.at < other.at;
}

export const countRefusals: DoFnDefinition<
  Keyed<SkipEvent>,
  { refusals: ReturnType<typeof keyed<ReturnType<typeof refusalOf>>> },
  Record<never, never>,
  unknown
> = {
  form: "each",
  name: "dailyCountRefusals",
  input: keyed(eventShapes.skip),
  outputs: { refusals: keyed(refusalSums) },
  make: () => ({
    process: ({ key, value }, context) => context.emit("refusals", { key, value: refusalOf(value) }),
  }),
};

/** Behind the sum of its copies: a body that several URLs of the day have. */
export const countDuplicates: DoFnDefinition<
  Keyed<number>,
  { crawl: typeof ofFetches.crawl },
  Record<never, never>,
  unknown
> = {
  form: "each",
  name: "dailyCountDuplicates",
  input: keyed(uint),
  outputs: { crawl: keyed(crawlSums) },
  make: () => ({
    process({ value: copies }, context) {
      if (copies > 1) context.emit("crawl", { key: CRAWL, value: { duplicates: copies - 1 } });
    },
  }),
};
