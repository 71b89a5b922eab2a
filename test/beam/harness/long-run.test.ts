import assert from "node:assert/strict";
import { test } from "node:test";
import { counters } from "../../../beam/harness/counters.ts";
import { baggedWordsDoFn, batches, keyedWord } from "../lib.ts";
import { keyedBytes, silent, stageOf, startAtFake, timerBytes } from "./lib.ts";

const BUNDLES = 10_000;
const SIDE_BY_SIDE = 40;

test("ten thousand bundles, each with keys of its own and each tenth failing, leave nothing behind", async (t) => {
  const source = batches("source", keyedWord, []);
  let acknowledged = 0;
  // Each bundle does one of these, since a fake runner in the same process is what takes the time.
  const doFn = baggedWordsDoFn(
    "busy",
    async ({ word }, context) => {
      if (word === "0") context.state("memo").set({ count: (await context.state("memo").get())?.count ?? 1 });
      if (word === "1") context.setTimer("bell", 1);
      if (word === "1") context.bag("log").add(word);
      if (word === "2") context.afterCommit(() => void acknowledged++);
      if (word === "3") context.emit("out", { key: context.key, value: { word } });
      if (word === "bad") throw new Error("no luck");
    },
    (_family, context) => context.clearTimer("horn"),
  );
  const counted = counters(silent);
  const { runner, harness } = await startAtFake(t, [doFn], { stateCacheBytes: 200_000, counters: counted });
  const build = (p: Parameters<Parameters<typeof stageOf>[0]>[0]) =>
    void p.keyed("Keyed", doFn, {}, p.source("Source", source, {}).out);
  const descriptor = stageOf(build, { only: ["Keyed"], endpoint: runner.endpoint });
  const id = Object.keys(descriptor.transforms).find((name) => descriptor.transforms[name]!.uniqueName === "Keyed")!;
  runner.register(descriptor);

  let next = 0;
  let errors = 0;
  async function some(): Promise<void> {
    for (let number = next++; number < BUNDLES; number = next++) {
      if (number % 100 === 0) counted.metrics.count("hundreds_total");
      const output = await runner.bundle({
        ...{ descriptor: "stage", token: `token-${number % 7}`, embedded: number % 5 !== 0 },
        data: { in: [keyedBytes([`host-${number}`, number % 10 === 0 ? "bad" : String(number % 4)])] },
        ...(number % 8 === 0 && { timers: { [`${id}/bell`]: [timerBytes({ key: `other-${number}` })] } }),
        families: [`${id}/bell`, `${id}/horn`],
      });
      if (output.error !== "") errors++;
      else if (output.response.requiresFinalization)
        await runner.instruct({ oneofKind: "finalizeBundle", finalizeBundle: { instructionId: output.id } });
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, some));

  assert.equal(errors, BUNDLES / 10);
  assert.equal(acknowledged, BUNDLES / 5); // a quarter, without those that are bad
  const { kept, bundles } = harness.health();
  assert.deepEqual(bundles, { running: 0, done: BUNDLES - errors, failed: errors });
  const { cacheEntries, cacheBytes, instances, ...others } = kept;
  assert.deepEqual(others, { inboxes: 0, inboundBytes: 0, stateWaiting: 0, stages: 1, finalizers: 0, logLines: 0 });
  assert.ok(instances <= SIDE_BY_SIDE, `${instances} instances`);
  await harness.stop();
  assert.deepEqual(
    Object.entries(harness.health().kept).filter(([name, number]) => name !== "stages" && number > 0),
    [],
  );
  assert.ok(cacheBytes <= 200_000 && cacheEntries < 2000, `${cacheBytes} bytes, ${cacheEntries} entries`);
});
