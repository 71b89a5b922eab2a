import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { keyed } from "../../../beam/coders.ts";
import type { GroupedDefinition, Keyed } from "../../../beam/dofn.ts";
import { memorySpill } from "../../../io/spill/memory-spill.ts";
import { bytes, text } from "../../../schemas/codec.ts";
import { type Count, count, type Group, given, grouped, keyedCount, startBatch, told } from "./lib.ts";

/** The same by hand. */
function byHand(values: readonly Keyed<Count>[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { key, value } of values) {
    const known = groups.get(key) ?? { key, n: 0, sum: 0 };
    groups.set(key, { key, n: known.n + 1, sum: known.sum + value.n });
  }
  return byKey([...groups.values()]);
}

function byKey(groups: readonly Group[]): Group[] {
  return [...groups].sort((one, other) => (one.key < other.key ? -1 : 1));
}

const list = given("list", keyed(text), () => []);

/** Tells each value's place in the order that the DoFn saw; `want` values of a group are read. */
function listing(seen: (key: string, values: string[]) => void, want = Number.POSITIVE_INFINITY) {
  const definition: GroupedDefinition<string, Record<never, never>, object, unknown> = {
    ...{ form: "grouped", name: "listing", input: text, outputs: {} },
    make: () => ({
      async process(key, values) {
        const all: string[] = [];
        if (want > 0)
          for await (const value of values) {
            all.push(value);
            if (all.length >= want) break;
          }
        seen(key, all);
      },
    }),
  };
  return definition;
}

suite("grouping", () => {
  test("is a Map built by hand, whatever the bounds force to spill", async () => {
    const key = fc.oneof(fc.constantFrom("", "a", "b", "Ä", "😀", "aa"), fc.string({ unit: "binary", maxLength: 8 }));
    const value = fc.record({ key, value: fc.record({ n: fc.nat() }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { maxLength: 200 }),
        fc.constantFrom(1, 10_000, 100_000, 1e9),
        fc.integer({ min: 1, max: 50 }),
        async (values, memoryBytes, bundleElements) => {
          // Lone surrogates are no text: as UTF-8 they are all one.
          const whole = values.filter((one) => one.key.isWellFormed());
          const { end, groups, stats } = await grouped(whole, { memoryBytes, bundleElements });
          assert.deepEqual(end, { state: "done" });
          assert.deepEqual(byKey(groups), byHand(whole));
          assert.equal(stats.bytes, 0);
        },
      ),
      { numRuns: 60 },
    );
  });

  test("keeps keys of one hash apart", async () => {
    const alike = sameHash();
    const values = Array.from({ length: 300 }, (_, n) => ({ key: alike[n % 2]!, value: { n } }));
    for (const memoryBytes of [2000, 1e9]) {
      const { groups } = await grouped(values, { memoryBytes });
      assert.deepEqual(byKey(groups), byHand(values));
    }
  });

  test("of 10,000 keys over more runs than are read at once comes to each once", async () => {
    const values = Array.from({ length: 60_000 }, (_, n) => ({ key: `key-${(n * 7919) % 10_000}`, value: { n } }));
    const { end, groups, stats, progress } = await grouped(values, { memoryBytes: 40_000 });
    assert.deepEqual(end, { state: "done" });
    assert.deepEqual(byKey(groups), byHand(values));
    assert.ok(stats.runsWritten > 100, `${stats.runsWritten} runs`);
    assert.ok(progress[1]!.spilledBytes > 1_000_000);
  });

  test("streams a key of 200,000 values", async () => {
    const values = function* () {
      for (let n = 0; n < 200_000; n++) yield { key: n % 100 === 99 ? `${n}` : "hot", value: { n: 1 } };
    };
    const { groups } = await grouped([...values()], { memoryBytes: 2_000_000 });
    assert.equal(groups.length, 2001);
    assert.deepEqual(
      groups.find(({ key }) => key === "hot"),
      { key: "hot", n: 198_000, sum: 198_000 },
    );
  });

  test("carries values of a megabyte", async () => {
    const seen: string[] = [];
    const large = given("large", keyed(bytes), function* () {
      for (let n = 0; n < 24; n++) yield { key: `${n % 3}`, value: new Uint8Array(1 << 20).fill(n) };
    });
    const sizes: GroupedDefinition<Uint8Array, Record<never, never>, object, unknown> = {
      ...{ form: "grouped", name: "sizes", input: bytes, outputs: {} },
      make: () => ({
        async process(key, values) {
          for await (const value of values) if (value.every((byte) => byte === value[0])) seen.push(`${key} ${value[0]}`);
        },
      }),
    };
    const build = startBatch([large, sizes], (p) => void p.grouped("Sizes", sizes, {}, p.start("Read", large, {}).out), {
      memoryBytes: 4 << 20,
    });
    assert.deepEqual(await build.job.done, { state: "done" });
    assert.deepEqual(seen.sort(), Array.from({ length: 24 }, (_, n) => `${n % 3} ${n}`).sort());
  });

  for (const want of [0, 1, 3000])
    test(`a DoFn that reads ${want} of a large group's values leaves the other groups whole`, async () => {
      const seen = new Map<string, number>();
      const many = given("many", list.outputs.out, function* () {
        for (let n = 0; n < 40_000; n++) yield { key: `key-${n % 4}`, value: `${n}`.padEnd(40) };
        for (let n = 0; n < 100; n++) yield { key: `small-${n}`, value: `${n}` };
      });
      const some = listing((key, values) => void seen.set(key, values.length), want);
      const { job } = startBatch([many, some], (p) => void p.grouped("Some", some, {}, p.start("Read", many, {}).out));
      assert.deepEqual(await job.done, { state: "done" });
      assert.equal(seen.size, 104);
      assert.equal(seen.get("key-2"), want);
      assert.equal(seen.get("small-7"), Math.min(want, 1));
    });

  test("gives the values of a key once, and not beyond the call", async () => {
    const errors: string[] = [];
    let kept: AsyncIterable<Count> | undefined;
    const twice: GroupedDefinition<Count, Record<never, never>, object, unknown> = {
      ...{ form: "grouped", name: "twice", input: count, outputs: {} },
      make: () => ({
        async process(_key, values) {
          kept = values;
          for await (const _ of values) break;
          try {
            for await (const _ of values) break;
          } catch (error) {
            errors.push((error as Error).message);
          }
        },
      }),
    };
    const read = given("read", keyedCount, () => [{ key: "a", value: { n: 1 } }]);
    const { job } = startBatch([read, twice], (p) => void p.grouped("Twice", twice, {}, p.start("Read", read, {}).out));
    assert.deepEqual(await job.done, { state: "done" });
    assert.deepEqual(errors, ["the values of a group can be iterated once"]);
    assert.throws(() => kept![Symbol.asyncIterator](), /once/);
  });

  test("of nothing is nothing", async () => {
    const { end, groups } = await grouped([]);
    assert.deepEqual([end, groups], [{ state: "done" }, []]);
  });

  test("removes what was spilled, whatever happens", async () => {
    const spill = memorySpill();
    const failing = told(keyedCount, () => {
      throw new Error("no");
    });
    const read = given("read", keyedCount, () => Array.from({ length: 1000 }, (_, n) => ({ key: `${n}`, value: { n } })));
    const { job } = startBatch(
      [read, failing],
      (p) => void p.each("Fail", failing, {}, p.reshuffle("Spread", p.start("Read", read, {}).out)),
      { spill, memoryBytes: 5000 },
    );
    assert.equal((await job.done).state, "failed");
    assert.ok(spill.stats().runsWritten > 0);
    assert.equal(spill.stats().bytes, 0);
  });
});

/** Two keys with one FNV-1a of 32 bits, found among as many as chance needs for it. */
function sameHash(): [string, string] {
  const seen = new Map<number, string>();
  for (let n = 0; ; n++) {
    const key = `k${n.toString(36)}`;
    let hash = 0x811c9dc5;
    for (const byte of Buffer.from(key)) hash = Math.imul(hash ^ byte, 0x01000193);
    const other = seen.get(hash);
    if (other !== undefined) return [other, key];
    seen.set(hash, key);
  }
}
