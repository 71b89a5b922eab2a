import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import type { Keyed } from "../../../beam/dofn.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import { adding, type BatchTestOptions, type Count, given, keyedCount, startBatch, told } from "./lib.ts";

/** The sums of these under their keys; the n-th element fails its bundle the first time where `failures` has n. */
async function combined(values: readonly Keyed<Count>[], failures: ReadonlySet<number>, options: BatchTestOptions = {}) {
  const sums: [string, number][] = [];
  const left = new Set(failures);
  const read = given("read", keyedCount, () => values);
  const failing = {
    ...told(keyedCount, () => undefined, "failing"),
    outputs: { out: keyedCount },
    make: () => ({
      async process(element: Keyed<Count>, context: { emit(output: "out", value: Keyed<Count>): void }) {
        context.emit("out", element);
        if (left.delete(element.value.n)) throw new Error("once");
      },
    }),
  };
  const tell = told(keyedCount, ({ key, value }) => void sums.push([key, value.n]));
  const definitions = [read, failing, adding, tell] as unknown as Parameters<typeof startBatch>[0];
  const { job } = startBatch(
    definitions,
    (p) => {
      const spread = p.reshuffle("Spread", p.start("Read", read, {}).out);
      const { out } = p.each("Fail", failing as never, {}, spread) as { out: typeof spread };
      p.each("Tell", tell, {}, p.combined("Add", adding, out));
    },
    { bundleTries: failures.size + 1, ...options },
  );
  assert.deepEqual(await job.done, { state: "done" });
  return sums.sort();
}

function fold(values: readonly Keyed<Count>[]): [string, number][] {
  const sums = new Map<string, number>();
  for (const { key, value } of values) sums.set(key, (sums.get(key) ?? 0) + value.n);
  return [...sums].sort();
}

suite("combining", () => {
  test("is a fold, whatever the size of bundles, what is spilled and what fails", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("a", "b", "c", "", "ä"), { maxLength: 120 }),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(1, 4000, 1e9),
        fc.uniqueArray(fc.nat(119), { maxLength: 4 }),
        async (keys, bundleElements, memoryBytes, failures) => {
          const values = keys.map((key, n) => ({ key, value: { n } }));
          const sums = await combined(values, new Set(failures), { bundleElements, memoryBytes });
          assert.deepEqual(sums, fold(values));
        },
      ),
      { numRuns: 40 },
    );
  });

  test("of more keys than a bundle combines at a time is a fold, too", async () => {
    const values = Array.from({ length: 30_000 }, (_, n) => ({ key: `${n % 12_000}`, value: { n } }));
    assert.deepEqual(await combined(values, new Set(), { bundleElements: 30_000 }), fold(values));
  });

  test("is registered by one name, for what goes before the grouping and what comes behind", () => {
    const registry = dofnRegistry([adding]);
    assert.equal(registry.find({ name: "adding", form: "each" }).form, "each");
    assert.equal(registry.find({ name: "adding", form: "grouped" }).form, "grouped");
    assert.throws(() => registry.find({ name: "adding", form: "keyed" }), /'adding' is of the form combine, not keyed/);
  });
});
