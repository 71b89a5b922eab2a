// Which segments are being composed into which object? A plan stands in the bucket while it is carried out, one an hour of segments.

import { StoreError } from "../../../ports/versioned-table.ts";
import { list, struct, type TypeOf, text, uint } from "../../../schemas/codec.ts";
import type { ObjectBucket } from "./bucket.ts";

/** Names are relative to the folder of the segments. */
export const compactionPlan = struct({
  target: text,
  /** In the order in which they lie in the target. */
  parts: list(struct({ segment: text, generation: text, bytes: uint })),
});
export type CompactionPlan = TypeOf<typeof compactionPlan>;
export type PlannedPart = CompactionPlan["parts"][number];

export function bytesIn({ parts }: CompactionPlan): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** An hour of segments, by the time in their names. */
export interface SegmentHour {
  /** YYYY-MM-DD, UTC. */
  day: string;
  /** 0 … 23. */
  hour: number;
}

/** What the names of the hour's segments begin with. */
export function segmentPrefix({ day, hour }: SegmentHour): string {
  return `dt=${day}/segment-${day.replaceAll("-", "")}T${twoDigits(hour)}`;
}

export function endOfHour({ day, hour }: SegmentHour): number {
  return Date.parse(`${day}T${twoDigits(hour)}:00:00Z`) + HOUR_MS;
}

const HOUR_MS = 60 * 60 * 1000;

function planName(folder: string, { day, hour }: SegmentHour): string {
  return `${folder}/dt=${day}/compaction-${twoDigits(hour)}.json`;
}

function twoDigits(hour: number): string {
  return String(hour).padStart(2, "0");
}

/** The hour's plan that somebody began and did not end, or is at. Rejects with StoreError where it is none of ours. */
export async function openPlan(bucket: ObjectBucket, folder: string, hour: SegmentHour): Promise<CompactionPlan | undefined> {
  const name = planName(folder, hour);
  const bytes = await bucket.read(name);
  if (bytes === undefined) return undefined;
  const plan = parsed(bytes);
  const fault = compactionPlan.fault(plan, "plan");
  if (fault === undefined) return plan as CompactionPlan;
  const advice = "see what it says, delete it, and compact again: what is composed twice by that is stored twice";
  throw new StoreError(`gs://${bucket.name}/${name} is no plan of this program (${fault}): ${advice}`, { final: true });
}

/** False where another's stands: somebody else compacts the hour. */
export async function beginPlan(
  bucket: ObjectBucket,
  folder: string,
  hour: SegmentHour,
  plan: CompactionPlan,
): Promise<boolean> {
  const object = { name: planName(folder, hour), bytes: Buffer.from(JSON.stringify(plan)), contentType: "application/json" };
  return (await bucket.create(object)) === "created";
}

/** Ends this plan, not one that was begun since. */
export async function endPlan(bucket: ObjectBucket, folder: string, hour: SegmentHour, plan: CompactionPlan): Promise<void> {
  const name = planName(folder, hour);
  const standing = await bucket.describe(name);
  if (standing === undefined || (await openPlan(bucket, folder, hour))?.target !== plan.target) return;
  await bucket.remove({ name, generation: standing.generation });
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
