// Which bundles has a stage? One of one element where the job begins, those of what was spread in the order it came, or those of groups.
import { type Clock, sleep } from "../../ports/clock.ts";
import type { Spill } from "../../ports/spill.ts";
import { decode } from "../../schemas/codec.ts";
import type { Bundle } from "../embedded/bundle.ts";
import type { Target } from "../embedded/read-graph.ts";
import { type BundleBounds, type GroupBundle, GroupBundles } from "./group-bundles.ts";
import { groupValues, type ValueSource } from "./group-values.ts";
import type { GroupElement } from "./grouped-dofn.ts";
import { mergedToFew } from "./merge.ts";
import { valueIn } from "./records.ts";
import { type Cursor, open, type Sequence } from "./runs.ts";
import { type BatchRuntime, type BatchStage, failWith, type Work, workOff } from "./stage.ts";

export interface BundleOptions extends BundleBounds {
  spill: Spill;
}

/** Elements between two turns of the event loop: what a socket waits at most for us. */
const ELEMENTS_A_BREATH = 1000;
const FIRST_STEP: readonly Target[] = [{ to: "step", step: 0 }];

/** Never rejects: what fails ends the job. */
export async function runStage(runtime: BatchRuntime, stage: BatchStage, options: BundleOptions): Promise<void> {
  const { progress, collected } = stage;
  const { ending } = runtime;
  progress.state = "running";
  if (collected === undefined) await workOff(runtime, stage, startWork());
  else await workOffCollected(runtime, stage, options);
  progress.state = ending.state() ?? "done";
}

async function workOffCollected(runtime: BatchRuntime, stage: BatchStage, options: BundleOptions): Promise<void> {
  const breathe = () => sleep(runtime.clock, 0);
  let sequences: readonly Sequence[] = [];
  let work: { next: () => Work | undefined; close: () => void } | undefined;
  try {
    sequences = stage.collected!.sequences();
    const grouped = stage.line.graph.kind === "grouped";
    if (grouped) sequences = await mergedToFew(options.spill, sequences, breathe);
    work = grouped ? groupWork(runtime, stage, { sequences, options }) : spreadWork(runtime, stage, { sequences, options });
    await workOff(runtime, stage, work.next);
    work.close();
    for (const sequence of sequences) if (sequence.kind === "run") sequence.run.remove();
    stage.collected!.remove();
  } catch (error) {
    failWith(runtime, stage, error);
  }
}

function startWork(): () => Work | undefined {
  let begun = false;
  return () => {
    if (begun) return undefined;
    begun = true;
    return { alone: true, elements: () => 1, feed: (bundle) => bundle.send(FIRST_STEP, {}) };
  };
}

interface Input {
  sequences: readonly Sequence[];
  options: BundleOptions;
}

function spreadWork({ clock }: BatchRuntime, { line }: BatchStage, { sequences, options }: Input) {
  const { input, roots } = line.graph;
  const left = [...sequences];
  let cursor: Cursor | undefined;

  function nextValue(): Uint8Array | undefined {
    while (cursor?.place === undefined) {
      cursor?.close();
      cursor = undefined;
      const sequence = left.shift();
      if (sequence === undefined) return undefined;
      cursor = open(sequence);
    }
    const value = valueIn(cursor.place);
    cursor.next();
    return value;
  }

  function next(): Work | undefined {
    const values: Uint8Array[] = [];
    for (let bytes = 0; values.length < options.elements && bytes < options.bytes; bytes += values.at(-1)!.length) {
      const value = nextValue();
      if (value === undefined) break;
      values.push(value);
    }
    if (values.length === 0) return undefined;
    const send = (bundle: Bundle, value: Uint8Array) => bundle.send(roots, decode(input!, value));
    return { alone: false, elements: () => values.length, feed: (bundle) => each(clock, bundle, values, send) };
  }
  return { next, close: () => cursor?.close() };
}

function groupWork({ clock, ending }: BatchRuntime, { line }: BatchStage, { sequences, options }: Input) {
  const bundles = new GroupBundles(sequences, options);
  const codec = line.graph.input!;
  const common = { codec, mustGoOn: ending.mustGoOn, breathe: () => sleep(clock, 0) };

  function groupsWork({ groups, elements }: GroupBundle & { kind: "groups" }): Work {
    const send = (bundle: Bundle, { key, values }: (typeof groups)[number]) => {
      const element: GroupElement = { key, values: groupValues({ ...common, next: over(values) }) };
      bundle.send(FIRST_STEP, element);
    };
    return { alone: false, elements: () => elements, feed: (bundle) => each(clock, bundle, groups, send) };
  }

  function largeWork({ key, first }: GroupBundle & { kind: "large" }): Work {
    let tries = 0;
    let read = 0;
    const feed = async (bundle: Bundle) => {
      if (tries++ > 0) bundles.again();
      read = 0;
      const held = over(first);
      const next: ValueSource["next"] = () => {
        const value = held() ?? bundles.nextOfLarge();
        if (value !== undefined) read++;
        return value;
      };
      const values = groupValues({ ...common, next });
      bundle.send(FIRST_STEP, { key, values } satisfies GroupElement);
      await bundle.idle();
      values.end();
      // What the DoFn did not want to see belongs to no other group.
      for (let count = 1; !bundle.failed && bundles.nextOfLarge() !== undefined; count++)
        if (count % ELEMENTS_A_BREATH === 0) await sleep(clock, 0);
    };
    return { alone: true, elements: () => read, feed };
  }

  return {
    next(): Work | undefined {
      const bundle = bundles.next();
      if (bundle === undefined) return undefined;
      return bundle.kind === "groups" ? groupsWork(bundle) : largeWork(bundle);
    },
    close: () => bundles.close(),
  };
}

/** Sends one after another, no faster than the event loop breathes. */
async function each<T>(clock: Clock, bundle: Bundle, items: readonly T[], send: (bundle: Bundle, item: T) => void) {
  for (const [index, item] of items.entries()) {
    if (bundle.failed) return;
    send(bundle, item);
    if ((index + 1) % ELEMENTS_A_BREATH === 0) await sleep(clock, 0);
  }
}

function over(values: readonly Uint8Array[]): () => Uint8Array | undefined {
  let at = 0;
  return () => values[at++];
}
