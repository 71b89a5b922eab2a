// How do the many small segments of a day become few large ones, while records are read and written? By plans that may be cut off anywhere.
import type { Clock } from "../../../ports/clock.ts";
import type { Log } from "../../../ports/log.ts";
import type { Random } from "../../../ports/random.ts";
import { type RecordTable, StoreError } from "../../../ports/versioned-table.ts";
import { limits } from "../../../schemas/limits.ts";
import type { SegmentPlace } from "../../../schemas/segment.ts";
import { partNames } from "../part-names.ts";
import { COMPOSE_PARTS_MAX, type ObjectBucket, type ObjectFacts } from "./bucket.ts";
import { carryOut } from "./carry-out.ts";
import {
  beginPlan,
  bytesIn,
  type CompactionPlan,
  endOfHour,
  openPlan,
  type SegmentHour,
  segmentPrefix,
} from "./compaction-plan.ts";

export interface CompactionOptions {
  bucket: ObjectBucket;
  /** Of the archive. */
  folder: string;
  segments: RecordTable<SegmentPlace>;
  clock: Clock;
  random: Random;
  /** YYYY-MM-DD, UTC. */
  day: string;
  /** 0 … 23; all by default. Workers may share a day by its hours. */
  hours?: readonly number[];
  /** An object is complete when it has this many bytes. */
  targetBytes?: number;
  /** Segments of this size or more stay as they are. */
  smallBytes?: number;
  /** Segments younger than this are left for later: their index may be under way. */
  settleMs?: number;
  log?: Log;
}

export interface CompactionReport {
  /** Large objects made, and the segments and bytes in them. */
  objects: number;
  segments: number;
  bytes: number;
  /** Hours that another compaction was at; it does what is left. */
  hoursTaken: number;
}

const SMALL_BYTES = 128 * 1024 * 1024; // an eighth of a full object: what is larger gains nothing by the work
const SETTLE_MS = 5 * 60 * 1000; // an index is given up after a minute (patience.ts)
const PARTS_MAX = COMPOSE_PARTS_MAX ** 2; // two rounds

type Options = CompactionOptions & Required<Pick<CompactionOptions, "targetBytes" | "smallBytes" | "settleMs">>;

/** May be cut off at any step and run again, also by several at once. Rejects with StoreError. */
export async function compactSegments(given: CompactionOptions): Promise<CompactionReport> {
  if (!/^\d{4}-\d\d-\d\d$/.test(given.day)) throw new StoreError(`'${given.day}' is no day, as 2026-01-31 is`, { final: true });
  const options = { targetBytes: limits.segmentBytes, smallBytes: SMALL_BYTES, settleMs: SETTLE_MS, ...given };
  const report: CompactionReport = { objects: 0, segments: 0, bytes: 0, hoursTaken: 0 };
  for (const hour of given.hours ?? Array.from({ length: 24 }, (_, each) => each))
    await compactHour(options, { day: given.day, hour }, report);
  return report;
}

async function compactHour(options: Options, hour: SegmentHour, report: CompactionReport): Promise<void> {
  const { bucket, folder } = options;
  const left = await openPlan(bucket, folder, hour);
  if (left !== undefined) await carryOutAndCount(options, hour, left, report);
  for await (const group of groups(options, hour)) {
    const plan = planOf(group, options);
    if (!(await beginPlan(bucket, folder, hour, plan))) {
      report.hoursTaken++;
      return;
    }
    await carryOutAndCount(options, hour, plan, report);
  }
}

async function carryOutAndCount(
  options: Options,
  hour: SegmentHour,
  plan: CompactionPlan,
  report: CompactionReport,
): Promise<void> {
  if (!(await carryOut(options, hour, plan))) return;
  report.objects++;
  report.segments += plan.parts.length;
  report.bytes += bytesIn(plan);
}

/** Runs of settled small segments, each as large as an object is to be; the last one smaller, when no more can come. */
async function* groups(options: Options, hour: SegmentHour): AsyncGenerator<ObjectFacts[]> {
  const { bucket, folder, clock, targetBytes, smallBytes, settleMs } = options;
  const settled = clock.now() - settleMs;
  let group: ObjectFacts[] = [];
  let bytes = 0;
  for await (const object of bucket.list(`${folder}/${segmentPrefix(hour)}`)) {
    if (!OURS.test(object.name) || object.bytes >= smallBytes || object.createdAt > settled) continue;
    group.push(object);
    bytes += object.bytes;
    if (bytes < targetBytes && group.length < PARTS_MAX) continue;
    if (group.length > 1) yield group;
    group = [];
    bytes = 0;
  }
  if (group.length > 1 && endOfHour(hour) <= settled) yield group;
}

function planOf(group: readonly ObjectFacts[], { folder, random }: Options): CompactionPlan {
  const nameOf = (object: ObjectFacts) => object.name.slice(folder.length + 1);
  return {
    target: partNames(random, "large", ".warc.gz")(timeIn(group[0]!.name)),
    parts: group.map((object) => ({ segment: nameOf(object), generation: object.generation, bytes: object.bytes })),
  };
}

/** Names as part-names.ts gives them; what else lies there is not touched. */
const OURS = /\/dt=([\d-]{10})\/segment-\d{8}T(\d\d)([0-5]\d)([0-5]\d)-[\w-]+\.warc\.gz$/;

/** The large object lies in the same day. */
function timeIn(name: string): number {
  const [, day, hour, minute, second] = OURS.exec(name) ?? [];
  return Date.parse(`${day}T${hour}:${minute}:${second}Z`);
}
