// What do the engine's tests build their small pipelines of? Sources that give a list, DoFns given as a function, and a job under a virtual clock.

import { keyed } from "../../beam/coders.ts";
import type {
  BundleContext,
  DoFn,
  DoFnDefinition,
  Keyed,
  KeyedContext,
  KeyedDefinition,
  Outputs,
  SourceDefinition,
} from "../../beam/dofn.ts";
import { runEmbedded } from "../../beam/embedded/run-embedded.ts";
import type { AnyDefinition } from "../../beam/pardo.ts";
import { buildPipeline, type PipelineBuilder } from "../../beam/pipeline.ts";
import { dofnRegistry } from "../../beam/registry.ts";
import type { Random } from "../../ports/random.ts";
import { type Codec, struct, text, uint } from "../../schemas/codec.ts";
import { virtualClock } from "../lib/virtual-clock.ts";

export const word = struct({ word: text });
export type Word = { word: string };
export const keyedWord = keyed(word);
const count = struct({ count: uint });

export const keyedWords = (...pairs: [key: string, word: string][]): Keyed<Word>[] =>
  pairs.map(([key, spelled]) => ({ key, value: { word: spelled } }));
export const words = (...spelled: string[]): Word[] => spelled.map((one) => ({ word: one }));

/** xorshift32: the same numbers for the same seed. */
export function seeded(seed: number): Random {
  let state = seed | 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return { next, token: () => String(next()) };
}

interface Batch<T> {
  values: readonly T[];
  /** What the source tells behind it; a source tells it behind each, or behind none. */
  watermark?: number;
  /** Until the next poll; 0. */
  waitMs?: number;
  afterCommit?: () => void | Promise<void>;
}

/** Gives a batch a poll, then nothing more. */
export function batches<T>(name: string, codec: Codec<T>, given: readonly Batch<T>[], polled?: () => void) {
  let at = 0;
  const definition: SourceDefinition<{ out: Codec<T> }, object, unknown> = {
    form: "source",
    name,
    outputs: { out: codec },
    make: () => ({
      async poll(context) {
        polled?.();
        const batch = given[at++];
        for (const value of batch?.values ?? []) context.emit("out", value as never);
        if (batch?.afterCommit !== undefined) context.afterCommit(batch.afterCommit);
        return batch === undefined ? 1e12 : (batch.waitMs ?? 0);
      },
      ...(given[0]?.watermark !== undefined && {
        watermark: () => given[Math.min(at, given.length) - 1]?.watermark ?? Number.NEGATIVE_INFINITY,
      }),
    }),
  };
  return definition;
}

type Process<In, Out> = (
  value: In,
  emit: (out: Out) => void,
  context: BundleContext<{ out: Codec<Out> }>,
) => void | Promise<void>;

/** A DoFn with one output, given as a function; `more` adds the calls around it. */
export function each<In, Out = In>(
  name: string,
  codecs: { in: Codec<In>; out: Codec<Out> },
  process: Process<In, Out>,
  more: (instance: number) => Partial<DoFn<In, { out: Codec<Out> }>> = () => ({}),
) {
  let made = 0;
  const definition: DoFnDefinition<In, { out: Codec<Out> }, object, unknown> = {
    form: "each",
    name,
    input: codecs.in,
    outputs: { out: codecs.out },
    make: () => ({
      process: (value, context) => process(value, (out) => context.emit("out", out as never), context),
      ...more(made++),
    }),
  };
  return definition;
}

/** Keeps what comes. */
export function sink<T>(name: string, codec: Codec<T>, into: (value: T) => void) {
  const definition: DoFnDefinition<T, Outputs, object, unknown> = {
    ...{ form: "each", name, input: codec, outputs: {} },
    make: () => ({ process: (value) => into(value) }),
  };
  return definition;
}

export type WordState = { memo: { count: number } };
export type WordContext = KeyedContext<{ out: typeof keyedWord }, WordState>;

/** Words under keys in and out, one cell `memo`, the timers `bell` and `horn`. */
export function keyedWordsDoFn(
  name: string,
  process: (value: Word, context: WordContext) => void | Promise<void>,
  onTimer?: (family: string, context: WordContext) => void | Promise<void>,
) {
  const definition: KeyedDefinition<Word, { out: typeof keyedWord }, WordState, object, unknown> = {
    form: "keyed",
    name,
    input: word,
    outputs: { out: keyedWord },
    state: { memo: count },
    timers: ["bell", "horn"],
    make: () => ({ process, ...(onTimer && { onTimer }) }),
  };
  return definition;
}

export type Bags = { log: string };
export type BagContext = KeyedContext<{ out: typeof keyedWord }, WordState, Bags>;

/** Words under keys in and out, a cell `memo`, a bag `log`, the timer `horn` of processing time and `bell` of event time. */
export function baggedWordsDoFn(
  name: string,
  process: (value: Word, context: BagContext) => void | Promise<void>,
  onTimer?: (family: string, context: BagContext) => void | Promise<void>,
) {
  const definition: KeyedDefinition<Word, { out: typeof keyedWord }, WordState, object, unknown, Bags> = {
    ...{ form: "keyed", name, input: word, outputs: { out: keyedWord }, state: { memo: count } },
    ...{ bags: { log: text }, timers: ["horn"], eventTimers: ["bell"] },
    make: () => ({ process, ...(onTimer && { onTimer }) }),
  };
  return definition;
}

interface TestOptions {
  seed?: number;
  bundleElements?: number;
  stageElements?: number;
  bundleTries?: number;
  checkCodecs?: boolean;
}

/** The job, its clock (from 0), and what it logged as `level: message`. */
export function start(definitions: readonly AnyDefinition[], build: (p: PipelineBuilder) => void, options: TestOptions = {}) {
  const clock = virtualClock(0);
  const logged: string[] = [];
  const { seed = 1, ...bounds } = options;
  const job = runEmbedded({
    proto: buildPipeline(build),
    registry: dofnRegistry(definitions),
    services: undefined,
    clock,
    random: seeded(seed),
    log: (level, message) => logged.push(`${level}: ${message}`),
    metrics: { count: () => undefined, gauge: () => undefined, observe: () => undefined },
    checkCodecs: true,
    ...bounds,
  });
  return { job, clock, logged };
}
