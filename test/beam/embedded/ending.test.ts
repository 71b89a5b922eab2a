import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { SourceDefinition } from "../../../beam/dofn.ts";
import { sleep } from "../../../ports/clock.ts";
import type { VirtualClock } from "../../lib/virtual-clock.ts";
import { batches, each, keyedWord, keyedWords, keyedWordsDoFn, sink, start, word, words } from "../lib.ts";

suite("a job that is stopped", () => {
  test("ends its bundles, drains its queues, drops its timers, and tears every DoFn down once, after its last bundle", async () => {
    const trace: string[] = [];
    const lives = new Map<string, string[]>();
    const live = (what: string, event: string) => lives.set(what, [...(lives.get(what) ?? []), event]);
    let clock: VirtualClock;
    let failures = 1;
    const source: SourceDefinition<{ out: typeof keyedWord }, object, unknown> = {
      ...{ form: "source", name: "source", outputs: { out: keyedWord } },
      make: () => ({
        setup: () => void live("source", "setup"),
        teardown: () => void live("source", "teardown"),
        async poll(context) {
          for (const element of keyedWords(["a", "1"], ["b", "2"], ["a", "3"])) context.emit("out", element);
          trace.push(`poll@${clock.now()}`);
          return 50;
        },
        watch: () => () => void live("source", "unwatch"),
      }),
    };
    const timed = keyedWordsDoFn(
      "timed",
      async (value, context) => {
        await sleep(clock, 30);
        context.setTimer("bell", 140);
        context.emit("out", { key: context.key, value });
      },
      () => void trace.push("bell"),
    );
    const slow = each(
      "slow",
      { in: keyedWord, out: word },
      async ({ value }) => {
        if (failures-- > 0) throw new Error("no luck");
        await sleep(clock, 100);
        trace.push(`${value.word}@${clock.now()}`);
      },
      (instance) => ({
        setup: async () => void live(`slow ${instance}`, "setup"),
        async teardown() {
          await sleep(clock, 1000);
          live(`slow ${instance}`, "teardown");
        },
      }),
    );
    const run = start([source, timed, slow], (p) => {
      p.each("Slow", slow, {}, p.reshuffle("Spread", p.keyed("Timed", timed, {}, p.source("Source", source, {}).out).out));
    });
    clock = run.clock;
    await clock.run(120); // polls at 0, 50 and 100
    let ended: unknown;
    const stopped = run.job.stop();
    run.job.done.then((end) => {
      ended = end;
    });
    await clock.run(1100);
    assert.equal(ended, undefined, "a teardown is awaited");
    await clock.run(10_000);
    await stopped;
    assert.deepEqual(ended, { state: "stopped" });
    assert.deepEqual(
      trace.filter((line) => line.startsWith("poll")),
      ["poll@0", "poll@50", "poll@100"],
    );
    assert.equal(trace.filter((line) => /^\d@/.test(line)).length, 9);
    assert.ok(!trace.includes("bell"));
    assert.deepEqual(lives.get("source"), ["setup", "unwatch", "teardown"]);
    lives.delete("source");
    assert.ok(lives.size > 1);
    for (const [instance, events] of lives) assert.deepEqual(events, ["setup", "teardown"], instance);
    assert.equal(run.job.nextTimerAt(), undefined);
    assert.ok(Object.values(run.job.stats()).every((stage) => stage.queued === 0 && stage.running === 0));
  });

  test("does not wait for the time of a source that waits, nor of a bundle that is to be tried again", async () => {
    let failures = 1;
    const out: string[] = [];
    const source = batches("source", word, [{ values: words("a"), waitMs: 1e9 }]);
    const copy = each("copy", { in: word, out: word }, (value) => {
      if (failures-- > 0) throw new Error("no luck");
      out.push(value.word);
    });
    const { clock, job } = start([source, copy], (p) => void p.each("Copy", copy, {}, p.source("Source", source, {}).out));
    await clock.run(100);
    assert.deepEqual(out, []);
    const stopped = job.stop();
    await clock.run(100);
    await stopped;
    assert.deepEqual([out, clock.nextAt()], [["a"], undefined]);
  });

  test("while its source fails to poll has not failed", async () => {
    const source = batches("source", word, [], () => {
      throw new Error("no luck");
    });
    const { clock, job, logged } = start([source], (p) => void p.source("Source", source, {}));
    await clock.run(100);
    const stopped = job.stop();
    await clock.run(100);
    await stopped;
    assert.deepEqual([await job.done, logged], [{ state: "stopped" }, ["warn: a bundle failed"]]);
  });

  test("leaves nothing with the clock", async () => {
    const source = batches("source", keyedWord, [{ values: keyedWords(["a", "1"]) }]);
    const doFn = keyedWordsDoFn(
      "timed",
      (_, context) => context.setTimer("bell", 1e9),
      () => undefined,
    );
    const { clock, job } = start([source, doFn], (p) => void p.keyed("Timed", doFn, {}, p.source("Source", source, {}).out));
    await clock.run(100);
    assert.equal(job.nextTimerAt(), 1e9);
    const stopped = job.stop();
    await clock.run(100);
    await stopped;
    assert.equal(clock.nextAt(), undefined);
  });

  test("twice, or before its first poll, ends once and cleanly", async () => {
    const source = batches("source", word, [{ values: words("a") }]);
    const { clock, job, logged } = start([source], (p) => void p.source("Source", source, {}));
    const both = Promise.all([job.stop(), job.stop()]);
    await clock.run(0);
    await both;
    assert.deepEqual([await job.done, logged], [{ state: "stopped" }, []]);
  });

  test("and whose teardown fails ends all the same, with a line in the log", async () => {
    const source = batches("source", word, [{ values: words("a") }]);
    const copy = each(
      "copy",
      { in: word, out: word },
      () => undefined,
      () => ({
        teardown: () => Promise.reject(new Error("no luck")),
      }),
    );
    const { clock, job, logged } = start([source, copy], (p) => void p.each("Copy", copy, {}, p.source("S", source, {}).out));
    await clock.run(10);
    const stopped = job.stop();
    await clock.run(10);
    await stopped;
    assert.deepEqual(logged, ["error: a teardown failed"]);
  });
});

test("a job that fails ends with its bundles, tears down, and polls no more, whatever was queued", async () => {
  const torn: string[] = [];
  let polls = 0;
  let clock: VirtualClock;
  const source = batches(
    "source",
    keyedWord,
    Array(20).fill({ values: keyedWords(["a", "1"], ["bad", "2"], ["c", "3"]) }),
    () => polls++,
  );
  const doFn = keyedWordsDoFn("fragile", async (_, { key }) => {
    if (key === "bad") throw new Error("no luck");
    await sleep(clock, 10_000);
  });
  const collect = {
    ...sink("collect", keyedWord, () => undefined),
    make: () => ({ process: () => undefined, teardown: () => void torn.push("collect") }),
  };
  const run = start(
    [source, doFn, collect],
    (p) => {
      const given = p.source("Source", source, {}).out;
      p.keyed("Fragile", doFn, {}, given);
      p.each("Collect", collect, {}, given);
    },
    { bundleTries: 2, stageElements: 6, bundleElements: 2 },
  );
  clock = run.clock;
  await clock.run(60_000);
  const { state, error } = await run.job.done;
  assert.equal(state, "failed");
  assert.match(String(error), /Fragile: a bundle failed 2 times/);
  assert.ok(polls < 20);
  assert.ok(torn.length > 0);
  assert.equal(clock.nextAt(), undefined);
});
