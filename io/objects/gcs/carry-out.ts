// In which order is a plan of compaction carried out, so that a cut anywhere loses and doubles nothing, and readers always find records?
import { StoreError } from "../../../ports/versioned-table.ts";
import { cdxjNameOf } from "../repair-segments.ts";
import { COMPOSE_PARTS_MAX, type ObjectFacts } from "./bucket.ts";
import type { CompactionOptions } from "./compact-segments.ts";
import { bytesIn, type CompactionPlan, endPlan, type PlannedPart, type SegmentHour, segmentPrefix } from "./compaction-plan.ts";
import { movedIndex } from "./moved-index.ts";
import { GZIP_TYPE, TEXT_TYPE } from "./named-object.ts";
import { sideBySide } from "./side-by-side.ts";

type Options = Pick<CompactionOptions, "bucket" | "folder" | "segments" | "log">;

/**
 * 1. the large object is composed; nobody refers to it yet
 * 2. its index is written, from those of the parts
 * 3. the rows are written: from now on readers go to the large object
 * 4. the parts are deleted, each after its index
 * 5. the plan is deleted
 *
 * Each step finds what it did before. While the plan stands, no other can be begun on the same parts. False where it was begun on a
 * list that had grown old, and is dropped.
 */
export async function carryOut(options: Options, hour: SegmentHour, plan: CompactionPlan): Promise<boolean> {
  const { bucket, folder } = options;
  if (!(await targetStands(options, plan))) {
    if (!(await allPartsStand(options, hour, plan))) {
      options.log?.("warn", "a plan of compaction whose segments are gone is dropped", { folder, target: plan.target });
      await endPlan(bucket, folder, hour, plan);
      return false;
    }
    await orElse(compose(options, plan), () => targetStands(options, plan));
  }
  await writeIndex(options, plan);
  await writeRows(options, plan);
  await removeParts(options, plan);
  await endPlan(bucket, folder, hour, plan);
  return true;
}

async function targetStands({ bucket, folder }: Options, plan: CompactionPlan): Promise<boolean> {
  const standing = await bucket.describe(`${folder}/${plan.target}`);
  if (standing === undefined) return false;
  const bytes = bytesIn(plan);
  if (standing.bytes === bytes) return true;
  const what = `gs://${bucket.name}/${standing.name} has ${standing.bytes} bytes where its parts have ${bytes}`;
  throw new StoreError(`${what}: it is not what was composed; nothing is deleted`, { final: true });
}

/** One listing instead of a look-up each. */
async function allPartsStand({ bucket, folder }: Options, hour: SegmentHour, plan: CompactionPlan): Promise<boolean> {
  const missing = new Map(plan.parts.map(({ segment, generation }) => [`${folder}/${segment}`, generation]));
  for await (const { name, generation } of bucket.list(`${folder}/${segmentPrefix(hour)}`))
    if (missing.get(name) === generation) missing.delete(name);
  return missing.size === 0;
}

/** As few rounds as may be: runs of parts first, where there are more than one call takes. */
async function compose({ bucket, folder }: Options, plan: CompactionPlan): Promise<void> {
  const target = { name: `${folder}/${plan.target}`, contentType: GZIP_TYPE };
  const parts = plan.parts.map((part) => factsOf(folder, part));
  const runs = runsOf(parts);
  const pieces = runs.length === 1 ? runs[0]! : await sideBySide(runs, (run, at) => bucket.compose(pieceOf(target, at), run));
  await bucket.compose(target, pieces);
}

function factsOf(folder: string, { segment, generation, bytes }: PlannedPart): ObjectFacts {
  return { name: `${folder}/${segment}`, generation, bytes, createdAt: 0 };
}

function runsOf(parts: readonly ObjectFacts[]): ObjectFacts[][] {
  const runs = Math.ceil(parts.length / COMPOSE_PARTS_MAX);
  return Array.from({ length: runs }, (_, run) => parts.slice(run * COMPOSE_PARTS_MAX, (run + 1) * COMPOSE_PARTS_MAX));
}

/** Not called .warc.gz: readers of segments pass it by. */
function pieceOf(target: { name: string; contentType: string }, at: number): { name: string; contentType: string } {
  return { ...target, name: `${target.name}.piece-${at}` };
}

/** What fails is no failure where somebody else, who carries out the same plan, has done it meanwhile. */
async function orElse(work: Promise<unknown>, isDone: () => Promise<boolean>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(await isDone())) throw error;
  }
}

async function writeIndex(options: Options, plan: CompactionPlan): Promise<void> {
  const { bucket, folder } = options;
  const name = `${folder}/${cdxjNameOf(plan.target)}`;
  if ((await bucket.describe(name)) !== undefined) return;
  const create = async () => {
    const bytes = await movedIndex(options, plan);
    // `taken`: by somebody else who carries out the plan, with the same lines
    if (bytes.length > 0) await bucket.create({ name, bytes, contentType: TEXT_TYPE });
  };
  await orElse(create(), async () => (await bucket.describe(name)) !== undefined);
}

const ROWS_AT_ONCE = 100; // of 150 bytes each: one small request of any store

async function writeRows({ segments }: Options, plan: CompactionPlan): Promise<void> {
  const rows = placesIn(plan);
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const batch = rows.slice(from, from + ROWS_AT_ONCE);
    const inserted = await segments.insertIfAbsent(batch);
    const present = batch.filter((_, at) => !inserted[at]);
    const standing = await segments.get(present.map(({ key }) => key));
    for (const [at, { key, value }] of present.entries()) {
      const { object, base } = standing[at]?.value ?? {};
      if (object === value.object && base === value.base) continue;
      const found = object === undefined ? "nothing" : `${object} from ${base}`;
      throw new StoreError(`${key} is in ${found}, not in ${value.object} from ${value.base}; nothing is deleted`, {
        final: true,
      });
    }
  }
}

function placesIn({ target, parts }: CompactionPlan) {
  let base = 0;
  return parts.map(({ segment, bytes }) => {
    const row = { key: segment, value: { object: target, base } };
    base += bytes;
    return row;
  });
}

async function removeParts({ bucket, folder }: Options, plan: CompactionPlan): Promise<void> {
  await sideBySide(plan.parts, async ({ segment, generation }) => {
    await bucket.remove({ name: `${folder}/${cdxjNameOf(segment)}` });
    await bucket.remove({ name: `${folder}/${segment}`, generation });
  });
  const runs = Math.ceil(plan.parts.length / COMPOSE_PARTS_MAX);
  if (runs === 1) return;
  const target = { name: `${folder}/${plan.target}`, contentType: GZIP_TYPE };
  await sideBySide([...Array(runs).keys()], (at) => bucket.remove(pieceOf(target, at)));
}
