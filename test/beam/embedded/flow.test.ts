import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { SourceDefinition } from "../../../beam/dofn.ts";
import { runEmbedded } from "../../../beam/embedded/run-embedded.ts";
import { buildPipeline } from "../../../beam/pipeline.ts";
import { dofnRegistry } from "../../../beam/registry.ts";
import { impulse, Pipeline, type PipelineProto, Root, runnerApi } from "../../../beam/sdk.ts";
import { sleep } from "../../../ports/clock.ts";
import { uint } from "../../../schemas/codec.ts";
import { type VirtualClock, virtualClock } from "../../lib/virtual-clock.ts";
import { batches, each, keyedWord, keyedWords, keyedWordsDoFn, seeded, sink, start, word } from "../lib.ts";

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index);

suite("elements between stages", () => {
  test("reach every consumer through flattens, reshuffles and keys, each once", async () => {
    const out: string[] = [];
    const one = batches("one", keyedWord, [{ values: keyedWords(["a", "1"], ["b", "2"]) }]);
    const two = batches("two", keyedWord, [{ values: keyedWords(["a", "3"]), waitMs: 10 }, { values: keyedWords(["c", "4"]) }]);
    const echo = keyedWordsDoFn("echo", (value, context) => context.emit("out", { key: context.key, value }));
    const copy = each("copy", { in: keyedWord, out: keyedWord }, (value, emit) => emit(value));
    const collect = sink("collect", keyedWord, ({ key, value }) => void out.push(key + value.word));
    const { clock } = start([one, two, echo, copy, collect], (p) => {
      const first = p.source("One", one, {}).out;
      const copied = p.each("Copy", copy, {}, first).out;
      const all = p.flatten("All", first, copied, p.source("Two", two, {}).out);
      const echoed = p.keyed("Echo", echo, {}, p.reshuffle("Early", all)).out;
      p.each("Collect", collect, {}, p.flatten("Both", echoed, p.reshuffle("Late", echoed)));
    });
    await clock.run(1000);
    // One's elements come straight and copied, and each of these is collected straight and reshuffled.
    const each4 = ["a1", "b2"].flatMap((element) => Array(4).fill(element));
    assert.deepEqual(out.sort(), [...each4, "a3", "a3", "c4", "c4"].sort());
  });

  test("wait within their bounds, and hold up the polls of every source that feeds a full queue", async () => {
    const out: number[] = [];
    const polls = [0, 0, 0];
    let clock: VirtualClock;
    const sources = [0, 1, 2].map((at) => {
      const given = range(0, 20).map((batch) => ({ values: range(0, 5).map((n) => at * 1000 + batch * 5 + n) }));
      return batches(`source-${at}`, uint, given, () => polls[at]!++);
    });
    const work = each("work", { in: uint, out: uint }, async (value, emit) => {
      await sleep(clock, 100);
      emit(value);
    });
    const keep = sink("keep", uint, (value) => void out.push(value));
    const run = start(
      [...sources, work, keep],
      (p) => {
        const [a, b, c] = sources.map((source) => p.source(source.name, source, {}).out);
        const worked = p.each("Work", work, {}, p.reshuffle("Spread", p.flatten("All", a!, b!, c!)));
        p.each("Keep", keep, {}, p.reshuffle("Again", worked.out));
      },
      { bundleElements: 2, stageElements: 4 },
    );
    clock = run.clock;
    await clock.run(1);
    // At work 4 bundles of 2, waiting 4: 12 of the first 15. Two sources could hand over their 5 and wait with the next.
    assert.deepEqual(polls, [2, 2, 1]);
    await clock.run(99);
    assert.deepEqual(polls, [2, 2, 1]);
    await clock.run(10_000);
    assert.deepEqual(
      out.sort((one, other) => one - other),
      [0, 1, 2].flatMap((at) => range(at * 1000, at * 1000 + 100)),
    );
    const { Spread, Again } = run.job.stats();
    assert.deepEqual([Spread!.queuedMax, Spread!.queued, Spread!.elements], [4, 0, 300]);
    assert.ok(Again!.queuedMax <= 4);
    assert.ok(run.job.quiet());
  });

  test("of a bundle that gives more than any queue holds do not lock up", async () => {
    let got = 0;
    const source = batches("source", keyedWord, [
      { values: keyedWords(...range(0, 300).map((n): [string, string] => [`k${n % 7}`, `${n}`])) },
    ]);
    const echo = keyedWordsDoFn("echo", (value, context) => {
      for (let copy = 0; copy < 10; copy++) context.emit("out", { key: context.key, value });
    });
    const again = keyedWordsDoFn("again", () => void got++);
    const { clock, job } = start(
      [source, echo, again],
      (p) => void p.keyed("Again", again, {}, p.keyed("Echo", echo, {}, p.source("Source", source, {}).out).out),
      { stageElements: 2, bundleElements: 3 },
    );
    await clock.run(1000);
    assert.equal(got, 3000);
    assert.ok(job.stats().Again!.queuedMax <= 2);
  });
});

suite("a source", () => {
  test("is polled after the wait it asked for, sooner when it wakes, and at once for 0", async () => {
    const polls: number[] = [];
    let wake: () => void = () => undefined;
    const waits = [0, 100, 5000, 100, Number.POSITIVE_INFINITY];
    const source: SourceDefinition<{ out: typeof word }, object, unknown> = {
      ...{ form: "source", name: "source", outputs: { out: word } },
      make: () => ({
        poll: async () => {
          polls.push(clock.now());
          return waits[polls.length - 1] ?? 1e9;
        },
        watch: (call) => {
          wake = call;
          return () => undefined;
        },
      }),
    };
    const { clock, job } = start([source], (p) => void p.source("Source", source, {}));
    clock.after(700, () => wake());
    await clock.run(3000);
    assert.deepEqual(polls, [0, 0, 100, 700, 800]);
    assert.ok(job.quiet());
    wake();
    assert.ok(!job.quiet());
    await clock.run(3000);
    assert.equal(polls.at(-1), 3000);
  });

  test("that wakes during a poll is polled again at once", async () => {
    let polls = 0;
    let wake: () => void = () => undefined;
    const source: SourceDefinition<{ out: typeof word }, object, unknown> = {
      ...{ form: "source", name: "source", outputs: { out: word } },
      make: () => ({
        poll: async () => {
          if (++polls === 1) wake();
          return 1e9;
        },
        watch(call) {
          wake = call;
          return () => undefined;
        },
      }),
    };
    const { clock } = start([source], (p) => void p.source("Source", source, {}));
    await clock.run(10);
    assert.equal(polls, 2);
  });

  test("that always has more leaves the event loop its turns", async () => {
    let polls = 0;
    const source: SourceDefinition<{ out: typeof word }, object, unknown> = {
      ...{ form: "source", name: "source", outputs: { out: word } },
      make: () => ({
        async poll(context) {
          context.emit("out", { word: "more" });
          return ++polls < 5000 ? 0 : 1e9;
        },
      }),
    };
    const { clock } = start([source], (p) => void p.source("Source", source, {}), { checkCodecs: false });
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(polls > 0 && polls <= 1000, `${polls} polls before a breath`);
    await clock.run(0);
    assert.equal(polls, 5000);
  });
});

suite("what the engine cannot do", () => {
  const source = batches("source", word, []);
  const keyedDoFn = keyedWordsDoFn("keyed", () => undefined);
  const good = buildPipeline((p) => void p.source("Source", source, {}));
  const keyedSource = batches("keyed-source", keyedWord, []);
  const stateful = buildPipeline((p) => void p.keyed("Keyed", keyedDoFn, {}, p.source("Source", keyedSource, {}).out));
  const changed = (change: (proto: PipelineProto) => void) => {
    const proto = runnerApi.Pipeline.clone(good);
    change(proto);
    return proto;
  };
  const transformOf = (proto: PipelineProto, label: string) =>
    Object.values(proto.components!.transforms).find((one) => one.uniqueName === label)!;
  const foreign = () => {
    const pipeline = new Pipeline();
    new Root(pipeline).apply(impulse()).map((element: unknown) => element);
    return pipeline.getProto();
  };

  const cases: [situation: string, proto: PipelineProto, definitions: Parameters<typeof dofnRegistry>[0], message: RegExp][] = [
    [
      "a primitive it does not know",
      changed((proto) => {
        transformOf(proto, "Source").spec!.urn = "beam:transform:combine_per_key:v1";
      }),
      [source],
      /Source: the embedded engine cannot do beam:transform:combine_per_key:v1/,
    ],
    ["another SDK's DoFn", foreign(), [], /cannot do a DoFn of beam:dofn:/],
    ["a DoFn that is not registered", good, [keyedDoFn], /Source: no DoFn is registered as 'source'; known are keyed/],
    [
      "a DoFn whose state cells have changed since",
      stateful,
      [keyedSource, { ...keyedDoFn, state: {} }],
      /Keyed: the proto and the DoFn 'keyed' differ in state cells or timers/,
    ],
    [
      "a transform that is named and missing",
      changed((proto) => void proto.rootTransformIds.push("nowhere")),
      [source],
      /names a transform nowhere that it does not have/,
    ],
  ];
  for (const [situation, proto, definitions, message] of cases)
    test(`${situation} is said before anything starts`, () => {
      const ports = { clock: virtualClock(0), random: seeded(1), log: () => undefined, services: undefined };
      const metrics = { count: () => undefined, gauge: () => undefined, observe: () => undefined };
      assert.throws(() => runEmbedded({ proto, registry: dofnRegistry(definitions), metrics, ...ports }), message);
    });
});

test("one seed gives one run, failures and timers included", async () => {
  const traceOf = async (seed: number) => {
    const trace: string[] = [];
    const random = seeded(seed + 100);
    let clock: VirtualClock;
    const at = (what: string) => void trace.push(`${clock.now()} ${what}`);
    const sources = [0, 1].map((index) =>
      batches(
        `source-${index}`,
        keyedWord,
        range(0, 30).map((batch) => ({
          values: keyedWords(...range(0, 6).map((n): [string, string] => [`k${n % 4}`, `${index}.${batch}.${n}`])),
          waitMs: 50,
        })),
      ),
    );
    const work = keyedWordsDoFn(
      "work",
      async (value, context) => {
        const memo = await context.state("memo").get();
        if (random.next() < 0.3) await sleep(clock, Math.floor(random.next() * 200));
        if (random.next() < 0.05) throw new Error("no luck");
        context.state("memo").set({ count: (memo?.count ?? 0) + 1 });
        context.setTimer("bell", clock.now() + Math.floor(random.next() * 300));
        context.emit("out", { key: context.key, value });
      },
      async (family, context) => at(`${family} ${context.key} ${(await context.state("memo").get())?.count}`),
    );
    const collect = sink("collect", keyedWord, ({ key, value }) => at(`${key} ${value.word}`));
    const run = start(
      [...sources, work, collect],
      (p) => {
        const [one, two] = sources.map((source) => p.source(source.name, source, {}).out);
        const worked = p.keyed("Work", work, {}, p.flatten("All", one!, two!));
        p.each("Collect", collect, {}, p.reshuffle("Spread", worked.out));
      },
      { seed, stageElements: 16, bundleElements: 4, bundleTries: 20 },
    );
    clock = run.clock;
    await clock.run(120_000);
    await run.job.stop();
    return [...trace, ...run.logged, JSON.stringify(run.job.stats())];
  };
  const [first, second, other] = [await traceOf(7), await traceOf(7), await traceOf(8)];
  assert.deepEqual(first, second);
  assert.notDeepEqual(first, other);
  assert.equal(first.filter((line) => / k\d \d\./.test(line)).length, 360);
  assert.ok(first.some((line) => line.includes("a bundle failed")));
});
