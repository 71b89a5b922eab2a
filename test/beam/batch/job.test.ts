import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { runBatch } from "../../../beam/batch/run-batch.ts";
import type { DoFnDefinition, GroupedDefinition, Keyed } from "../../../beam/dofn.ts";
import { buildPipeline } from "../../../beam/pipeline.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import { systemClock } from "../../../io/clock.ts";
import { openFileSpill } from "../../../io/spill/file-spill.ts";
import { memorySpill } from "../../../io/spill/memory-spill.ts";
import { batches } from "../lib.ts";
import { type Count, count, given, grouped, keyedCount, startBatch, told } from "./lib.ts";

const numbers = (size: number, keys: number) => () =>
  Array.from({ length: size }, (_, n): Keyed<Count> => ({ key: `key-${n % keys}`, value: { n } }));

/** Copies; `before` is called with each element first. */
function copying(name: string, before: (element: Keyed<Count>) => void | Promise<void>) {
  const definition: DoFnDefinition<Keyed<Count>, { out: typeof keyedCount }, object, unknown> = {
    ...{ form: "each", name, input: keyedCount, outputs: { out: keyedCount } },
    make: () => ({
      async process(element, context) {
        context.emit("out", element);
        await before(element);
      },
    }),
  };
  return definition;
}

suite("a bounded job", () => {
  test("whose start fails in the middle has each element once", async () => {
    let tries = 0;
    const read = given("read", keyedCount, function* () {
      tries++;
      yield* numbers(3000, 10)();
      if (tries < 3) throw new Error("the table is away");
    });
    const seen: number[] = [];
    const tell = told(keyedCount, ({ value }) => void seen.push(value.n));
    const { job, logged } = startBatch(
      [read, tell],
      (p) => void p.each("Tell", tell, {}, p.reshuffle("Spread", p.start("Read", read, {}).out)),
      { memoryBytes: 20_000 },
    );
    assert.deepEqual(await job.done, { state: "done" });
    assert.equal(seen.length, 3000);
    assert.equal(new Set(seen).size, 3000);
    assert.equal(logged.filter((line) => line === "warn: a bundle failed").length, 2);
  });

  test("whose large group fails in the middle reads it again from its beginning", async () => {
    const told: string[] = [];
    let failures = 0;
    const checking: GroupedDefinition<Count, { out: typeof keyedCount }, object, unknown> = {
      ...{ form: "grouped", name: "checking", input: count, outputs: { out: keyedCount } },
      make: () => ({
        async process(key, values, context) {
          let [n, sum] = [0, 0];
          for await (const value of values) {
            n++;
            sum += value.n;
            if (n % 1000 === 0) context.emit("out", { key, value: { n } });
            if (n === 9000 && failures++ < 3) throw new Error("in the middle");
          }
          told.push(`${key} ${n} ${sum}`);
        },
      }),
    };
    const emitted: number[] = [];
    const read = given("read", keyedCount, numbers(40_000, 4));
    const tell = copying("tell", ({ value }) => void emitted.push(value.n));
    for (const memoryBytes of [100_000, 1e9]) {
      told.length = 0;
      emitted.length = 0;
      failures = 0;
      const { job } = startBatch(
        [read, checking, tell],
        (p) => {
          const { out } = p.grouped("Check", checking, {}, p.start("Read", read, {}).out);
          p.each("Tell", tell, {}, p.reshuffle("Spread", out));
        },
        { memoryBytes },
      );
      assert.deepEqual(await job.done, { state: "done" });
      const sum = (key: number) => 4 * ((10_000 * 9999) / 2) + key * 10_000;
      assert.deepEqual(
        told.sort(),
        [0, 1, 2, 3].map((key) => `key-${key} 10000 ${sum(key)}`),
      );
      assert.equal(emitted.length, 40);
    }
  });

  test("whose bundles fail more often than is borne has failed, with stage and cause, and all torn down", async () => {
    let torn = 0;
    const read = given("read", keyedCount, numbers(10, 1));
    const failing = {
      ...told(keyedCount, () => {
        throw new Error("no");
      }),
    };
    const { make } = failing;
    failing.make = (config, services) => ({ ...make(config, services), teardown: () => void torn++ });
    const { job } = startBatch(
      [read, failing],
      (p) => void p.each("Fail", failing, {}, p.reshuffle("Spread", p.start("Read", read, {}).out)),
      { bundleTries: 3 },
    );
    const { state, error } = await job.done;
    assert.equal(state, "failed");
    assert.equal(error!.message, "Spread: a bundle failed 3 times");
    assert.equal((error!.cause as Error).message, "no");
    assert.equal(torn, 3);
    assert.deepEqual(
      job.progress().map((stage) => stage.state),
      ["done", "failed"],
    );
  });

  test("that is stopped in the middle ends, leaves nothing, and begins nothing more", { timeout: 20_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "gleaner-batch-"));
    const reached = Promise.withResolvers<void>();
    let after = 0;
    const endless: DoFnDefinition<Keyed<Count>, { out: typeof keyedCount }, object, unknown> = {
      ...{ form: "each", name: "endless", input: keyedCount, outputs: { out: keyedCount } },
      make: () => ({
        async process(element, context) {
          for (let n = 0; ; n++) {
            context.emit("out", element);
            if (n === 60) reached.resolve();
            if (n % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
          }
        },
      }),
    };
    const read = given("read", keyedCount, numbers(400, 5));
    const tell = told(keyedCount, () => void after++);
    const { job, logged } = startBatch(
      [read, endless, tell],
      (p) => {
        const { out } = p.each("Endless", endless, {}, p.reshuffle("Spread", p.start("Read", read, {}).out));
        p.each("Tell", tell, {}, p.reshuffle("Again", out));
      },
      { spill: openFileSpill(folder, () => undefined), memoryBytes: 100_000 },
    );
    await reached.promise;
    assert.equal(readdirSync(folder).length, 1);
    await job.stop();
    assert.deepEqual(await job.done, { state: "stopped" });
    assert.deepEqual([after, readdirSync(folder)], [0, []]);
    assert.ok(!logged.some((line) => line.startsWith("warn") || line.startsWith("error")), logged.join("\n"));
    assert.deepEqual(
      job.progress().map((stage) => stage.state),
      ["done", "stopped", "waiting"],
    );
    rmSync(folder, { recursive: true });
  });

  test("that is stopped before it began is stopped", async () => {
    const read = given("read", keyedCount, () => assert.fail("it was begun"));
    const { job } = startBatch([read], (p) => void p.start("Read", read, {}));
    await job.stop();
    assert.deepEqual(await job.done, { state: "stopped" });
  });

  test("without room for what it spills has failed at once, also where the DoFn hides it", async () => {
    let tries = 0;
    const spill = memorySpill(10_000);
    const read = given("read", keyedCount, function* () {
      tries++;
      yield* numbers(5000, 5)();
    });
    const { make } = read;
    const hiding: typeof read = {
      ...read,
      make: (config, services) => ({
        async process(start, context) {
          try {
            await make(config, services).process(start, context);
          } catch {}
        },
      }),
    };
    const { job } = startBatch([hiding], (p) => void p.reshuffle("Spread", p.start("Read", hiding, {}).out), {
      spill,
      memoryBytes: 8000,
    });
    const { state, error } = await job.done;
    assert.equal(state, "failed");
    assert.match(error!.message, /^Read: no room is left/);
    assert.deepEqual([tries, spill.stats().bytes], [1, 0]);
  });

  test("acknowledges what is committed, and nothing else", async () => {
    const acknowledged: number[] = [];
    let failed = false;
    const read = given("read", keyedCount, numbers(40, 1));
    const acknowledging: DoFnDefinition<Keyed<Count>, Record<never, never>, object, unknown> = {
      ...{ form: "each", name: "acknowledging", input: keyedCount, outputs: {} },
      make: () => ({
        process({ value }, context) {
          context.afterCommit(() => void acknowledged.push(value.n));
          if (value.n !== 25 || failed) return;
          failed = true;
          throw new Error("once");
        },
      }),
    };
    const { job } = startBatch(
      [read, acknowledging],
      (p) => void p.each("Take", acknowledging, {}, p.reshuffle("Spread", p.start("Read", read, {}).out)),
      { bundleElements: 10 },
    );
    assert.deepEqual(await job.done, { state: "done" });
    assert.deepEqual(
      acknowledged.sort((one, other) => one - other),
      Array.from({ length: 40 }, (_, n) => n),
    );
  });

  test("tells each stage's progress", async () => {
    const { progress } = await grouped(numbers(1000, 10)());
    const [read, group] = progress;
    assert.deepEqual(
      { ...read, bytes: 0 },
      { label: "Read", state: "done", elementsIn: 1, elementsOut: 1000, bytes: 0, spilledBytes: 0 },
    );
    assert.equal(group!.label, "Group");
    assert.equal(group!.elementsIn, 1000);
    assert.ok(group!.bytes > 10_000);
  });

  test("runs none of a pipeline with sources", () => {
    const source = batches("batches", count, []);
    const options = { registry: dofnRegistry([source]), services: undefined, clock: systemClock(), log: () => undefined };
    const metrics = { count: () => undefined, gauge: () => undefined, observe: () => undefined };
    const proto = buildPipeline((p) => void p.source("Read", source, {}));
    assert.throws(
      () => runBatch({ ...options, metrics, proto, spill: memorySpill() }),
      /^Error: Read: a bounded pipeline has no/,
    );
  });
});
