// Does every row meet its fact, wherever the fact comes, and however few rows may wait?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { struct, text, uint, union } from "../../../../schemas/codec.ts";
import { lookup } from "../../../../transforms/daily/clusters/lookup.ts";
import { bundle } from "../../contexts.ts";

const value = union({ fact: struct({ name: text }), row: struct({ number: uint }) });
type Value = { kind: "fact"; name: string } | { kind: "row"; number: number };
const outputs = { met: struct({ key: text, name: text, number: uint }) };

const stepOf = (waitingMax: number) =>
  lookup<Value, typeof outputs>(
    {
      ...{ name: "Meet", input: value, outputs },
      make: () => ({ found: (key, { name }, { number }, context) => context.emit("met", { key, name, number }) }),
    },
    waitingMax,
  );

async function* each<T>(values: readonly T[]) {
  yield* values;
}

/** What one step gives for the groups of one key each. */
async function step(groups: Map<string, Value[]>, waitingMax: number) {
  const context = bundle();
  const dofn = stepOf(waitingMax).make({}, undefined);
  for (const [key, values] of groups) await dofn.process(key, each(values), context as never);
  const of = (output: string) => context.emitted.filter((one) => one.output === output).map((one) => one.value);
  const deferred = new Map<string, Value[]>();
  for (const { key, value: one } of of("deferred")) deferred.set(key, [...(deferred.get(key) ?? []), one]);
  return { met: of("met"), deferred };
}

test("law: two steps tell each row once, and no more rows wait than may", async () => {
  const place = fc.integer({ min: 0, max: 40 });
  await fc.assert(
    fc.asyncProperty(place, place, fc.integer({ min: 1, max: 9 }), async (before, after, waitingMax) => {
      const row = (number: number): Value => ({ kind: "row", number });
      const rows = Array.from({ length: before + after }, (_, number) => row(number));
      const values: Value[] = [...rows.slice(0, before), { kind: "fact", name: "f" }, ...rows.slice(before)];
      const first = await step(new Map([["k", values]]), waitingMax);
      for (const part of first.deferred.values()) assert.ok(part.filter(({ kind }) => kind === "row").length <= waitingMax);
      const second = await step(first.deferred, waitingMax);
      assert.equal(second.deferred.size, 0);
      const told = [...first.met, ...second.met].sort((one, other) => one.number - other.number);
      assert.deepEqual(
        told,
        rows.map((_, number) => ({ key: "k", name: "f", number })),
      );
    }),
  );
});

test("rows without a fact are a fault of ours", async () => {
  await assert.rejects(step(new Map([["k", [{ kind: "row", number: 1 }]]]), 5), /'k' has rows and no fact/);
});

test("a fact without rows is nothing", async () => {
  const { met, deferred } = await step(new Map([["k", [{ kind: "fact", name: "f" }]]]), 5);
  assert.deepEqual([met, deferred.size], [[], 0]);
});
