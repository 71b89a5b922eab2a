// Which buckets, clocks and tables do the tests of this folder give?
import { gunzipSync } from "node:zlib";
import { systemClock } from "../../../../io/clock.ts";
import { type BucketOptions, type ObjectBucket, openBucket, setUpStorage } from "../../../../io/objects/gcs/bucket.ts";
import { systemRandom } from "../../../../io/random.ts";
import { memoryTable } from "../../../../io/stores/memory-table.ts";
import type { Clock } from "../../../../ports/clock.ts";
import { recordTable } from "../../../../ports/versioned-table.ts";
import { segmentPlace } from "../../../../schemas/segment.ts";

const real = systemClock();
/** Longer than any wait between two tries, shorter than any limit of a call (patience.ts). */
const LIMIT_MS_MIN = 9_000;

/** Waits end sooner, and limits of calls, if asked for; a busy machine is slow enough to meet them. */
export function quickClock({ limits = 1, waits = 20 } = {}): Clock {
  return {
    now: real.now,
    after: (delayMs, run) => real.after(delayMs / (delayMs < LIMIT_MS_MIN ? waits : limits), run),
  };
}

/** All time runs so many times as fast. */
export function hastened(times: number): Clock {
  const start = real.now();
  return {
    now: () => Math.floor(start + (real.now() - start) * times),
    after: (delayMs, run) => real.after(delayMs / times, run),
  };
}

export const random = systemRandom();

export function optionsFor(endpoint: string, bucket: string, clock: Clock = quickClock()): BucketOptions {
  return { bucket, project: "test", endpoint: `http://${endpoint}`, clock, random };
}

let made = 0;

/** An empty bucket of its own. */
export async function newBucket(endpoint: string, clock?: Clock, pageNames?: number): Promise<ObjectBucket> {
  const options = optionsFor(endpoint, `bucket-${process.pid}-${++made}`, clock);
  await setUpStorage({ ...options, project: "test", location: "EU" });
  return openBucket({ ...options, ...(pageNames !== undefined && { pageNames }) });
}

export function segmentTable() {
  return recordTable(memoryTable(), segmentPlace, random);
}

export async function namesIn(bucket: ObjectBucket, prefix = ""): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of bucket.list(prefix)) names.push(name);
  return names;
}

/** What stands in each part, in the order in which they were made. */
export async function linesIn(bucket: ObjectBucket, folder: string): Promise<string[][]> {
  const parts: { generation: string; lines: string[] }[] = [];
  for await (const { name, generation } of bucket.list(`${folder}/`)) {
    const bytes = await bucket.read(name);
    parts.push({ generation, lines: gunzipSync(bytes!).toString().split("\n").slice(0, -1) });
  }
  return parts.sort((a, b) => Number(a.generation) - Number(b.generation)).map(({ lines }) => lines);
}
