// How do all rows of a key learn the one fact of that key, when it may come last and the rows do not fit into memory?
import assert from "node:assert";
import { type KeyedCodec, keyed } from "../../../beam/coders.ts";
import type { Emitter, GroupedDefinition, GroupedDoFn, Outputs } from "../../../beam/dofn.ts";
import type { Codec } from "../../../schemas/codec.ts";

type Either = { kind: "fact" } | { kind: "row" };
type FactOf<V> = Extract<V, { kind: "fact" }>;
type RowOf<V> = Extract<V, { kind: "row" }>;

/** What a row becomes once the fact of its key is known. */
interface LookupDoFn<V, O extends Outputs> {
  startBundle?(): void;
  finishBundle?(context: Emitter<O>): void;
  found(key: string, fact: FactOf<V>, row: RowOf<V>, context: Emitter<O>): void;
}

export interface LookupRule<V, O extends Outputs> {
  name: string;
  input: Codec<V>;
  outputs: O;
  make(): LookupDoFn<V, NoInfer<O>>;
}

/** Rows that came before their fact and did not fit, and their fact once more, for a second such step. */
interface Deferred<V> extends Outputs {
  deferred: KeyedCodec<V>;
}

export type Lookup<V, O extends Outputs> = GroupedDefinition<V, O & Deferred<V>, object, unknown>;

/** Rows of one key that wait for its fact at a time: 3 MB. */
const WAITING_MAX = 10_000;

/** Between a key and the number of a part of its rows; no hash and no id has it. */
const PART_MARK = "#";

/**
 * Rows wait for their fact, `waitingMax` at most; of those that come beyond, each `waitingMax` go to a part of the key with a name of its
 * own, and so does the fact when it comes. A part never holds more than may wait, so that two such steps are enough for any number of
 * rows. A key with rows has exactly one fact.
 */
export function lookup<V extends Either, O extends Outputs>(rule: LookupRule<V, O>, waitingMax = WAITING_MAX): Lookup<V, O> {
  const { name, input, outputs } = rule;
  return {
    ...{ form: "grouped", name, input, outputs: { ...outputs, deferred: keyed(input) } },
    make: () => lookupDofn(rule.make(), waitingMax),
  };
}

function lookupDofn<V extends Either, O extends Outputs>(
  { found, startBundle, finishBundle }: LookupDoFn<V, O>,
  waitingMax: number,
): GroupedDoFn<V, O & Deferred<V>> {
  return {
    ...(startBundle && { startBundle }),
    ...(finishBundle && { finishBundle: (context) => finishBundle(context as Emitter<O>) }),
    async process(key, values, context) {
      const [own = key] = key.split(PART_MARK);
      const out = context as Emitter<O>;
      const parts = newParts(own, waitingMax, context as unknown as Emitter<Deferred<V>>);
      const waiting: RowOf<V>[] = [];
      let fact: FactOf<V> | undefined;
      for await (const value of values) {
        if (isFact(value)) {
          fact = value;
          for (const row of waiting.splice(0)) found(own, fact, row, out);
          parts.tell(fact);
        } else if (fact !== undefined) found(own, fact, value as RowOf<V>, out);
        else if (waiting.length < waitingMax) waiting.push(value as RowOf<V>);
        else parts.add(value as RowOf<V>);
      }
      assert(fact !== undefined, `the key '${key}' has rows and no fact`);
    },
  };
}

function isFact<V extends Either>(value: V): value is FactOf<V> {
  return value.kind === "fact";
}

function newParts<V>(key: string, size: number, context: Emitter<Deferred<V>>) {
  let rows = 0;
  const give = (part: number, value: V) => context.emit("deferred", { key: `${key}${PART_MARK}${part}`, value });
  return {
    add: (row: RowOf<V>) => give(Math.floor(rows++ / size), row),
    tell(fact: FactOf<V>) {
      for (let part = 0; part * size < rows; part++) give(part, fact);
    },
  };
}
