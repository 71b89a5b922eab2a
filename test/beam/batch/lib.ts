// What do the tests of bounded pipelines build theirs of? Starts that give a list, groups that are told, a combining that adds up, and a job.

import { runBatch } from "../../../beam/batch/run-batch.ts";
import { keyed, type Start, start } from "../../../beam/coders.ts";
import type { AnyCombineDefinition } from "../../../beam/combine.ts";
import type { CombineDefinition, DoFnDefinition, GroupedDefinition, Keyed, Outputs } from "../../../beam/dofn.ts";
import type { AnyDefinition } from "../../../beam/pardo.ts";
import { type BatchBuilder, buildBatch } from "../../../beam/pipeline.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import { systemClock } from "../../../io/clock.ts";
import { type MemorySpill, memorySpill } from "../../../io/spill/memory-spill.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { Spill } from "../../../ports/spill.ts";
import { type Codec, struct, text, uint } from "../../../schemas/codec.ts";

export const count = struct({ n: uint });
export type Count = { n: number };
export const keyedCount = keyed(count);
const group = struct({ key: text, n: uint, sum: uint });
export type Group = { key: string; n: number; sum: number };
export const groupCodec = group;

/** Begins with these, however they come. */
export function given<T>(name: string, codec: Codec<T>, values: () => Iterable<T>) {
  const definition: DoFnDefinition<Start, { out: Codec<T> }, object, unknown> = {
    ...{ form: "each", name, input: start, outputs: { out: codec } },
    make: () => ({
      process(_start, context) {
        for (const value of values()) context.emit("out", value as never);
      },
    }),
  };
  return definition;
}

/** Each group's key, number and sum of values. */
export const grouping: GroupedDefinition<Count, { out: typeof group }, object, unknown> = {
  ...{ form: "grouped", name: "grouping", input: count, outputs: { out: group } },
  make: () => ({
    async process(key, values, context) {
      const told = { key, n: 0, sum: 0 };
      for await (const { n } of values) {
        told.n++;
        told.sum += n;
      }
      context.emit("out", told);
    },
  }),
};

export const adding: CombineDefinition<Count, Count> = {
  ...{ name: "adding", form: "combine", input: count, accumulator: count },
  create: () => ({ n: 0 }),
  add: (into, { n }) => ({ n: into.n + n }),
  merge: (into, { n }) => ({ n: into.n + n }),
};

export function told<T>(codec: Codec<T>, into: (value: T) => void | Promise<void>, name = "told") {
  const definition: DoFnDefinition<T, Outputs, object, unknown> = {
    ...{ form: "each", name, input: codec, outputs: {} },
    make: () => ({ process: into }),
  };
  return definition;
}

export interface BatchTestOptions {
  spill?: Spill;
  memoryBytes?: number;
  bundleElements?: number;
  bundleTries?: number;
  clock?: Clock;
}

export function startBatch(
  definitions: readonly (AnyDefinition | AnyCombineDefinition)[],
  build: (pipeline: BatchBuilder) => void,
  options: BatchTestOptions = {},
) {
  const logged: string[] = [];
  const job = runBatch({
    proto: buildBatch(build),
    registry: dofnRegistry(definitions),
    services: undefined,
    clock: impatient,
    log: (level, message) => void logged.push(`${level}: ${message}`),
    metrics: { count: () => undefined, gauge: () => undefined, observe: () => undefined },
    spill: memorySpill(),
    ...options,
  });
  return { job, logged };
}

/** Waits for nothing longer than a turn of the event loop. */
const impatient: Clock = {
  now: systemClock().now,
  after(_delayMs, run) {
    const turn = setImmediate(run);
    return () => clearImmediate(turn);
  },
};

/** The groups of these, by the engine, and how it came to them. */
export async function grouped(values: readonly Keyed<Count>[], options: BatchTestOptions = {}) {
  const groups: Group[] = [];
  const spill: MemorySpill = memorySpill();
  const read = given("given", keyedCount, () => values);
  const tell = told(group, (one) => void groups.push(one));
  const { job, logged } = startBatch(
    [read, grouping, tell],
    (p) => void p.each("Tell", tell, {}, p.grouped("Group", grouping, {}, p.start("Read", read, {}).out).out),
    { spill, ...options },
  );
  const end = await job.done;
  return { end, groups, logged, stats: spill.stats(), progress: job.progress() };
}
