// Does every engine come to the same? The smallest pipeline that has it all: a start, a reshuffle, groups, a combining, and a way out.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { keyed } from "../../../beam/coders.ts";
import type { DoFnDefinition, Keyed } from "../../../beam/dofn.ts";
import { type BatchBuilder, buildBatch } from "../../../beam/pipeline.ts";
import { withEnvironment } from "../../../beam/portable/environment.ts";
import { flinkOptions, type PipelineOptions } from "../../../beam/portable/options.ts";
import { submit } from "../../../beam/portable/submit.ts";
import { startWorkerPool } from "../../../beam/portable/worker-pool.ts";
import { systemClock } from "../../../io/clock.ts";
import { engineTests } from "../../engines/engine-tests.ts";
import { startFlink } from "../../engines/flink.ts";
import { startPrism } from "../../engines/prism.ts";
import { harnessOf } from "../portable/small-job.ts";
import { adding, type Count, count, type Group, given, groupCodec, grouping, keyedCount, startBatch, told } from "./lib.ts";

const KEYS = 500;
const ELEMENTS = 20_000;
/** One key has a tenth of all values, so that its iterable is a long one. */
const elements = (): Keyed<Count>[] =>
  Array.from({ length: ELEMENTS }, (_, n) => ({ key: n % 10 === 0 ? "hot" : `key-${n % KEYS}`, value: { n } }));

/** Every value a second time, under the key's last digit. */
const digits: DoFnDefinition<Keyed<Count>, { all: typeof keyedCount; digit: typeof keyedCount }, object, unknown> = {
  ...{ form: "each", name: "digits", input: keyedCount, outputs: { all: keyedCount, digit: keyed(count) } },
  make: () => ({
    async process({ key, value }, context) {
      await Promise.resolve();
      context.emit("all", { key, value });
      context.emit("digit", { key: key.slice(-1), value });
    },
  }),
};

function smallBatch() {
  const groups: Group[] = [];
  const sums: Keyed<Count>[] = [];
  const definitions = {
    read: given("read", keyedCount, elements),
    digits,
    grouping,
    adding,
    groups: told(groupCodec, (one) => void groups.push(one), "groups"),
    sums: told(keyedCount, (one) => void sums.push(one), "sums"),
  };
  const build = (p: BatchBuilder) => {
    const { out } = p.start("Read", definitions.read, {});
    const { all, digit } = p.each("Digits", digits, {}, p.reshuffle("Spread", out));
    p.each("Groups", definitions.groups, {}, p.grouped("Group", grouping, {}, p.flatten("Twice", all, digit)).out);
    p.each("Sums", definitions.sums, {}, p.combined("Add", adding, digit));
  };
  const results = () => ({
    groups: Object.fromEntries(groups.map(({ key, n, sum }) => [key, `${n} ${sum}`])),
    sums: Object.fromEntries(sums.map(({ key, value }) => [key, value.n])),
    lengths: [groups.length, sums.length],
  });
  return { definitions: Object.values(definitions), build, results };
}

/** By hand. */
function expected() {
  const groups = new Map<string, { n: number; sum: number }>();
  const sums = new Map<string, number>();
  const put = (key: string, n: number) => {
    const known = groups.get(key) ?? { n: 0, sum: 0 };
    groups.set(key, { n: known.n + 1, sum: known.sum + n });
  };
  for (const { key, value } of elements()) {
    put(key, value.n);
    put(key.slice(-1), value.n);
    sums.set(key.slice(-1), (sums.get(key.slice(-1)) ?? 0) + value.n);
  }
  return {
    groups: Object.fromEntries([...groups].map(([key, { n, sum }]) => [key, `${n} ${sum}`])),
    sums: Object.fromEntries(sums),
    lengths: [groups.size, sums.size],
  };
}

test("a small bounded pipeline comes to its results on the embedded engine", async () => {
  const { definitions, build, results } = smallBatch();
  const { job } = startBatch(definitions, build);
  assert.deepEqual(await job.done, { state: "done" });
  assert.deepEqual(results(), expected());
});

async function onRunner(context: TestContext, { endpoint, options }: { endpoint: string; options?: PipelineOptions }) {
  const { definitions, build, results } = smallBatch();
  const clock = systemClock();
  const pool = await startWorkerPool({ startWorker: harnessOf(definitions, quiet), clock, log: quiet });
  context.after(() => pool.stop());
  const proto = withEnvironment(buildBatch(build), { kind: "external", endpoint: pool.endpoint });
  const job = await submit({ endpoint, proto, jobName: "small-batch", ...(options && { options }), clock, log: quiet });
  context.after(() => job.leave());
  assert.deepEqual(await job.ended, { kind: "ended", state: "done", why: [] });
  assert.deepEqual(results(), expected());
}

function quiet(): void {}

await engineTests(["prism"], () => {
  test("a small bounded pipeline ends on Prism with the same results", async (context) => {
    const server = await startPrism();
    context.after(() => server.stop());
    await onRunner(context, server);
  });
});

await engineTests(["flink"], () => {
  test("a small bounded pipeline ends on Flink with the same results, two subtasks at a time", async (context) => {
    const server = await startFlink();
    context.after(() => server.stop());
    await onRunner(context, { endpoint: server.endpoint, options: flinkOptions({ parallelism: 2 }) });
  });
});
