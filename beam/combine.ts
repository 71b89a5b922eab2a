// How does a combining run where there is grouping alone? In part within each bundle, then whole behind a grouping by key.
import { type KeyedCodec, keyed } from "./coders.ts";
import type { CombineDefinition, DoFn, DoFnDefinition, GroupedDefinition, Keyed } from "./dofn.ts";

// biome-ignore lint/suspicious/noExplicitAny: definitions of all types stand in one list
export type AnyCombineDefinition = CombineDefinition<any, any>;

/** Keys that a bundle combines before it gives them all away and begins anew: what their accumulators take of memory. */
const KEYS_MAX = 10_000;

interface Combined<A> {
  readonly [output: string]: KeyedCodec<A>;
  readonly combined: KeyedCodec<A>;
}

export interface CombineParts<V, A> {
  /** Before the grouping. */
  readonly partial: DoFnDefinition<Keyed<V>, Combined<A>, unknown, unknown>;
  /** Behind it. */
  readonly merging: GroupedDefinition<A, Combined<A>, unknown, unknown>;
}

/** Both have the name of the combining; their forms tell them apart. */
export function combineParts<V, A>(definition: CombineDefinition<V, A>): CombineParts<V, A> {
  const { name, input, accumulator } = definition;
  const outputs = { combined: keyed(accumulator) };
  return {
    partial: { ...{ form: "each", name, input: keyed(input), outputs }, make: () => partial(definition) },
    merging: {
      ...{ form: "grouped", name, input: accumulator, outputs },
      make: () => ({
        async process(key, values, context) {
          let whole = definition.create();
          for await (const part of values) whole = definition.merge(whole, part);
          context.emit("combined", { key, value: whole });
        },
      }),
    },
  };
}

function partial<V, A>(definition: CombineDefinition<V, A>): DoFn<Keyed<V>, Combined<A>> {
  let parts = new Map<string, A>();
  const flush: NonNullable<DoFn<Keyed<V>, Combined<A>>["finishBundle"]> = (context) => {
    for (const [key, value] of parts) context.emit("combined", { key, value });
    parts = new Map();
  };
  return {
    startBundle() {
      parts = new Map();
    },
    process({ key, value }, context) {
      const known = parts.get(key);
      parts.set(key, definition.add(known ?? definition.create(), value));
      if (known === undefined && parts.size >= KEYS_MAX) flush(context);
    },
    finishBundle: flush,
  };
}
