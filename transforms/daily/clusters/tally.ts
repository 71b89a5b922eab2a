// How is counted in a bundle that may be tried again? Apart from the elements, given away at the bundle's end and forgotten at its start.
import type { CombineDefinition, Emitter } from "../../../beam/dofn.ts";
import { uint } from "../../../schemas/codec.ts";
import type { CountName, counts } from "./elements.ts";

export interface Tally {
  count(name: CountName, by?: number): void;
  /** Of the DoFn that counts. */
  lifecycle: { startBundle(): void; finishBundle(context: Emitter<{ counts: typeof counts }>): void };
}

export function newTally(): Tally {
  const seen = new Map<CountName, number>();
  return {
    count(name, by = 1) {
      seen.set(name, (seen.get(name) ?? 0) + by);
    },
    lifecycle: {
      startBundle: () => seen.clear(),
      finishBundle(context) {
        for (const [key, value] of seen) context.emit("counts", { key, value });
      },
    },
  };
}

export const sumCounts: CombineDefinition<number, number> = {
  form: "combine",
  name: "SumCounts",
  input: uint,
  accumulator: uint,
  create: () => 0,
  add: (into, value) => into + value,
  merge: (into, other) => into + other,
};
