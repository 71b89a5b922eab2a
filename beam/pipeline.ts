// How is a pipeline of our DoFns written down? Through apache-beam's own Pipeline, so that the result is a proto for any runner.
import type { AnyCodec, Codec, TypeOf } from "../schemas/codec.ts";
import { isKeyed, type Start, start } from "./coders.ts";
import { combineParts } from "./combine.ts";
import type {
  CombineDefinition,
  DoFnDefinition,
  GroupedDefinition,
  Keyed,
  KeyedDefinition,
  Outputs,
  SourceDefinition,
} from "./dofn.ts";
import { type AnyDefinition, parDo } from "./pardo.ts";
import { reshuffle } from "./reshuffle.ts";
import {
  type Collected,
  flatten,
  groupByKey,
  impulse,
  P,
  Pipeline,
  type PipelineProto,
  Root,
  runnerApi,
  withName,
} from "./sdk.ts";

/** Elements of one type on their way from one transform to others. */
export interface Collection<T> {
  readonly codec: Codec<T>;
  readonly collected: Collected;
}

export type Collections<O extends Outputs> = { readonly [K in keyof O]: Collection<TypeOf<O[K]>> };

/** Labels are unique within a pipeline; they are what logs, metrics and runners call a transform. */
interface CommonBuilder {
  each<In, O extends Outputs, Config, Services>(
    label: string,
    definition: DoFnDefinition<In, O, Config, Services>,
    config: NoInfer<Config>,
    input: Collection<NoInfer<In>>,
  ): Collections<O>;
  flatten<T>(label: string, first: Collection<T>, ...more: Collection<NoInfer<T>>[]): Collection<T>;
  /** Ends the bundle and spreads the elements over the workers; makes nothing durable. */
  reshuffle<T>(label: string, input: Collection<T>): Collection<T>;
}

export interface PipelineBuilder extends CommonBuilder {
  source<O extends Outputs, Config, Services>(
    label: string,
    definition: SourceDefinition<O, Config, Services>,
    config: NoInfer<Config>,
  ): Collections<O>;
  keyed<V, O extends Outputs, S extends Record<string, unknown>, Config, Services>(
    label: string,
    definition: KeyedDefinition<V, O, S, Config, Services>,
    config: NoInfer<Config>,
    input: Collection<Keyed<NoInfer<V>>>,
  ): Collections<O>;
}

/** Of pipelines that end: all that is in them comes from their starts. */
export interface BatchBuilder extends CommonBuilder {
  /** Where the work begins: the DoFn is given one element, once. Its input is `start` (coders.ts). */
  start<O extends Outputs, Config, Services>(
    label: string,
    definition: DoFnDefinition<Start, O, Config, Services>,
    config: NoInfer<Config>,
  ): Collections<O>;
  grouped<V, O extends Outputs, Config, Services>(
    label: string,
    definition: GroupedDefinition<V, O, Config, Services>,
    config: NoInfer<Config>,
    input: Collection<Keyed<NoInfer<V>>>,
  ): Collections<O>;
  combined<V, A>(
    label: string,
    definition: CombineDefinition<V, A>,
    input: Collection<Keyed<NoInfer<V>>>,
  ): Collection<Keyed<A>>;
}

/**
 * The pipeline that `build` writes down. Throws where a label is used twice, or where the two ends of a collection do not share one
 * codec: the same object, since bytes alone cannot tell two codecs apart.
 */
export function buildPipeline(build: (pipeline: PipelineBuilder) => void): PipelineProto {
  return written((root) => build(streamBuilder(root)));
}

/** The bounded pipeline that `build` writes down, which a runner carries out and ends. Throws as buildPipeline does. */
export function buildBatch(build: (pipeline: BatchBuilder) => void): PipelineProto {
  return written((root) => build(batchBuilder(root)));
}

type PipelineRoot = InstanceType<typeof Root>;

function written(build: (root: PipelineRoot) => void): PipelineProto {
  const pipeline = new Pipeline();
  build(new Root(pipeline));
  // Through bytes, so that a reader sees what any runner will see.
  return runnerApi.Pipeline.fromBinary(runnerApi.Pipeline.toBinary(pipeline.getProto()));
}

function streamBuilder(root: PipelineRoot): PipelineBuilder {
  return {
    ...commonBuilder,
    source(label, definition, config) {
      const start = root.apply(withName(`${label}.Impulse`, impulse()));
      return outputs(definition, start.apply(withName(label, parDo(definition, config))));
    },
    keyed(label, definition, config, input) {
      keyedBy(label, input.codec, definition.input);
      return outputs(definition, input.collected.apply(withName(label, parDo(definition, config))));
    },
  };
}

function batchBuilder(root: PipelineRoot): BatchBuilder {
  return {
    ...commonBuilder,
    start(label, definition, config) {
      sameCodec(label, start, definition.input);
      const impulsed = root.apply(withName(`${label}.Impulse`, impulse()));
      return outputs(definition, impulsed.apply(withName(label, parDo(definition, config))));
    },
    grouped(label, definition, config, input) {
      keyedBy(label, input.codec, definition.input);
      const groups = input.collected.apply(withName(`${label}.Group`, groupByKey()));
      return outputs(definition, groups.apply(withName(label, parDo(definition, config))));
    },
    combined(label, definition, input) {
      keyedBy(label, input.codec, definition.input);
      const { partial, merging } = combineParts(definition);
      const parts = input.collected.apply(withName(`${label}.Partial`, parDo(partial, {}))).combined as Collected;
      const groups = parts.apply(withName(`${label}.Group`, groupByKey()));
      return outputs<typeof merging.outputs>(merging, groups.apply(withName(label, parDo(merging, {})))).combined;
    },
  };
}

const commonBuilder: CommonBuilder = {
  each(label, definition, config, input) {
    sameCodec(label, input.codec, definition.input);
    return outputs(definition, input.collected.apply(withName(label, parDo(definition, config))));
  },
  flatten(label, first, ...more) {
    for (const other of more) sameCodec(label, other.codec, first.codec);
    const parts = [first, ...more].map((part) => part.collected);
    return { codec: first.codec, collected: P(parts).apply(withName(label, flatten<unknown>())) };
  },
  reshuffle: (label, input) => ({
    codec: input.codec,
    collected: input.collected.apply(withName(label, reshuffle())),
  }),
};

function outputs<O extends Outputs>(definition: AnyDefinition, collected: Record<string, Collected>): Collections<O> {
  const pairs = Object.entries(definition.outputs as Outputs);
  return Object.fromEntries(pairs.map(([name, codec]) => [name, { codec, collected: collected[name] }])) as Collections<O>;
}

function keyedBy(label: string, given: AnyCodec, wanted: AnyCodec): void {
  if (!isKeyed(given)) throw new Error(`${label}: its input is not keyed; declare that output as keyed(…)`);
  sameCodec(label, given.value, wanted);
}

function sameCodec(label: string, given: AnyCodec, wanted: AnyCodec): void {
  const same = isKeyed(given) && isKeyed(wanted) ? given.value === wanted.value : given === wanted;
  if (!same) throw new Error(`${label}: an input has another codec; let both ends name the same codec object`);
}
