import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { sleep } from "../../../ports/clock.ts";
import { text, uint } from "../../../schemas/codec.ts";
import type { VirtualClock } from "../../lib/virtual-clock.ts";
import { batches, each, keyedWord, keyedWords, keyedWordsDoFn, sink, start, word, words } from "../lib.ts";

const codecs = { in: word, out: word };
const collected = (into: string[]) => sink("collect", word, (value) => void into.push(value.word));

suite("the elements of a bundle", () => {
  test("run side by side where they wait, and a slow one holds up none", async () => {
    const done: string[] = [];
    let clock: VirtualClock;
    const source = batches("source", word, [{ values: words("slow", "a", "b") }]);
    const wait = each("wait", codecs, async (value, emit) => {
      await sleep(clock, value.word === "slow" ? 1000 : 10);
      done.push(`${value.word}@${clock.now()}`);
      emit(value);
    });
    const run = start([source, wait], (p) => void p.each("Wait", wait, {}, p.source("Source", source, {}).out));
    clock = run.clock;
    await clock.run(2000);
    assert.deepEqual(done, ["a@10", "b@10", "slow@1000"]);
  });

  test("are so many at a time, the rest as these end", async () => {
    let [running, most, ended] = [0, 0, 0];
    let clock: VirtualClock;
    const source = batches("source", uint, [{ values: [1000] }]);
    const flood = each("flood", { in: uint, out: uint }, (many, emit) => {
      for (let index = 0; index < many; index++) emit(index);
    });
    const wait = each("wait", { in: uint, out: uint }, async () => {
      most = Math.max(most, ++running);
      await sleep(clock, 10);
      running--;
      ended++;
    });
    const run = start([source, flood, wait], (p) => {
      p.each("Wait", wait, {}, p.each("Flood", flood, {}, p.source("Source", source, {}).out).out);
    });
    clock = run.clock;
    await clock.run(40);
    assert.deepEqual([most, ended], [256, 1000]);
  });

  test("include what finishBundle gives, in the order of the transforms", async () => {
    const out: string[] = [];
    const source = batches("source", word, [{ values: words("a", "b") }, { values: words("c") }]);
    let held: string[] = [];
    const gather = each(
      "gather",
      codecs,
      (value) => void held.push(value.word),
      () => ({
        startBundle() {
          held = [];
        },
        finishBundle: (context) => context.emit("out", { word: held.join("+") }),
      }),
    );
    const mark = each(
      "mark",
      codecs,
      async (value, emit) => emit({ word: `${value.word}!` }),
      () => ({
        finishBundle: async (context) => context.emit("out", { word: "end" }),
      }),
    );
    const collect = collected(out);
    const { clock } = start([source, gather, mark, collect], (p) => {
      const gathered = p.each("Gather", gather, {}, p.source("Source", source, {}).out);
      p.each("Collect", collect, {}, p.each("Mark", mark, {}, gathered.out).out);
    });
    await clock.run(10);
    assert.deepEqual(out, ["a+b!", "end", "c!", "end"]);
  });
});

suite("a bundle that fails", () => {
  /** Source → Fragile (fails so many times, on its last element) → across a stage → Collect. */
  function fragile(failures: number, bundleTries?: number) {
    const out: string[] = [];
    const acknowledged: string[] = [];
    const waits: number[] = [];
    let clock: VirtualClock;
    const source = batches("source", word, [{ values: words("a", "b"), afterCommit: () => void acknowledged.push("source") }]);
    const breakable = each("fragile", codecs, async (value, emit, context) => {
      context.afterCommit(() => void acknowledged.push(value.word));
      emit(value);
      if (value.word === "a") return;
      waits.push(clock.now());
      if (failures-- > 0) throw new Error("no luck");
    });
    const collect = collected(out);
    const run = start(
      [source, breakable, collect],
      (p) => {
        const { out: given } = p.each("Fragile", breakable, {}, p.source("Source", source, {}).out);
        p.each("Collect", collect, {}, p.reshuffle("Spread", given));
      },
      bundleTries === undefined ? {} : { bundleTries },
    );
    clock = run.clock;
    return { ...run, out, acknowledged, waits };
  }

  test("leaves nothing, and is tried again whole, after a wait that doubles with jitter", async () => {
    const { clock, job, out, acknowledged, waits, logged } = fragile(3);
    await clock.run(60_000);
    assert.deepEqual(out, ["a", "b"]);
    assert.deepEqual(acknowledged, ["a", "b", "source"]);
    const gaps = waits.slice(1).map((at, index) => at - waits[index]!);
    for (const [index, gap] of gaps.entries()) assert.ok(gap >= 250 * 2 ** index && gap <= 500 * 2 ** index, `${gap}`);
    assert.equal(gaps.length, 3);
    assert.equal(job.stats().Source!.failures, 3);
    assert.deepEqual(logged, Array(3).fill("warn: a bundle failed"));
  });

  test("for the last time fails the job, with the stage named and the cause kept, and nothing acknowledged", async () => {
    const { clock, job, out, acknowledged, logged } = fragile(2, 2);
    await clock.run(60_000);
    const { state, error } = await job.done;
    assert.equal(state, "failed");
    assert.match((error as Error).message, /^Source: a bundle failed 2 times$/);
    assert.equal(((error as Error).cause as Error).message, "no luck");
    assert.deepEqual([out, acknowledged], [[], []]);
    assert.equal(logged.at(-1), "error: the job has failed");
    await job.stop();
  });

  test("by a throw, a start, a finish, a setup or a poll is tried again too", async () => {
    for (const where of ["process", "startBundle", "finishBundle", "setup", "poll"]) {
      const out: string[] = [];
      let failures = 1;
      const maybe = (at: string) => {
        if (at === where && failures-- > 0) throw new Error(at);
      };
      const source = batches("source", word, [{ values: words("a") }], () => maybe("poll"));
      const copy = each(
        "copy",
        codecs,
        (value, emit) => {
          emit(value);
          maybe("process");
        },
        () => ({
          setup: () => maybe("setup"),
          startBundle: () => maybe("startBundle"),
          finishBundle: () => maybe("finishBundle"),
        }),
      );
      const collect = collected(out);
      const { clock, logged } = start([source, copy, collect], (p) => {
        p.each("Collect", collect, {}, p.reshuffle("Spread", p.each("Copy", copy, {}, p.source("Source", source, {}).out).out));
      });
      await clock.run(1000);
      assert.deepEqual(out, ["a"], where);
      assert.deepEqual(logged, ["warn: a bundle failed"], where);
    }
  });

  test("waits for its other calls, and what they give by then is not heard", async () => {
    const out: string[] = [];
    const trace: string[] = [];
    let clock: VirtualClock;
    let failures = 1;
    const source = batches("source", word, [{ values: words("slow", "bad") }]);
    const mixed = each("mixed", codecs, async (value, emit) => {
      trace.push(`${value.word}@${clock.now()}`);
      if (value.word === "bad" && failures-- > 0) throw new Error("no luck");
      await sleep(clock, 5000);
      emit(value);
    });
    const collect = collected(out);
    const run = start([source, mixed, collect], (p) => {
      p.each("Collect", collect, {}, p.each("Mixed", mixed, {}, p.source("Source", source, {}).out).out);
    });
    clock = run.clock;
    await clock.run(60_000);
    assert.deepEqual(out, ["slow", "bad"]);
    assert.ok(
      trace.slice(2).every((line) => Number(line.split("@")[1]) > 5000),
      trace.join(" "),
    );
  });

  test("does not get its instances again", async () => {
    const used: number[] = [];
    let failures = 1;
    const source = batches("source", word, [{ values: words("a") }, { values: words("b") }]);
    let instance = -1;
    const copy = each(
      "copy",
      codecs,
      () => {
        used.push(instance);
        if (failures-- > 0) throw new Error("no luck");
      },
      (number) => ({
        startBundle() {
          instance = number;
        },
      }),
    );
    const { clock } = start([source, copy], (p) => void p.each("Copy", copy, {}, p.source("Source", source, {}).out));
    await clock.run(10_000);
    assert.deepEqual(used, [0, 1, 1]);
  });
});

suite("afterCommit", () => {
  test("runs once what the bundle gave is with the next stage, not before, and its failure is logged", async () => {
    const trace: string[] = [];
    let clock: VirtualClock;
    const source = batches("source", word, [
      {
        values: words("a", "b", "c"),
        afterCommit: () => {
          trace.push(`acknowledged@${clock.now()}`);
          throw new Error("no luck");
        },
      },
    ]);
    const slow = each("slow", codecs, async (value) => {
      trace.push(`${value.word}@${clock.now()}`);
      await sleep(clock, 100);
    });
    // One element may wait and four run, one a bundle: all three find room at once.
    const run = start(
      [source, slow],
      (p) => void p.each("Slow", slow, {}, p.reshuffle("Spread", p.source("Source", source, {}).out)),
      { bundleElements: 1, stageElements: 1 },
    );
    clock = run.clock;
    await clock.run(1000);
    assert.deepEqual(trace.filter((line) => line.startsWith("acknowledged")).length, 1);
    assert.ok(trace.indexOf("acknowledged@0") > trace.indexOf("a@0"), trace.join(" "));
    assert.deepEqual(run.logged, ["error: an afterCommit failed"]);
  });

  test("waits for room downstream, and a job in which it has not ended is not quiet", async () => {
    const trace: string[] = [];
    let clock: VirtualClock;
    const source = batches("source", keyedWord, [
      {
        values: keyedWords(["a", "1"], ["a", "2"], ["a", "3"]),
        afterCommit: async () => {
          trace.push(`begins@${clock.now()}`);
          await sleep(clock, 1000);
          trace.push(`ends@${clock.now()}`);
        },
      },
    ]);
    const slow = keyedWordsDoFn("slow", async () => sleep(clock, 100));
    const run = start([source, slow], (p) => void p.keyed("Slow", slow, {}, p.source("Source", source, {}).out), {
      ...{ bundleElements: 1, stageElements: 1 },
    });
    clock = run.clock;
    await clock.run(600);
    // The third element finds room when the second is taken, after the first's 100 ms.
    assert.deepEqual([trace, run.job.quiet()], [["begins@100"], false]);
    await clock.run(1100);
    assert.deepEqual([trace, run.job.quiet()], [["begins@100", "ends@1100"], true]);
  });
});

test("acknowledgements that last hold up the source, not the bundle beside them", async () => {
  let polls = 0;
  const afterCommit = () => sleep(clock, 1000);
  const source = batches("source", word, Array(5).fill({ values: words("a"), afterCommit }), () => polls++);
  const { clock } = start([source], (p) => void p.source("Source", source, {}));
  await clock.run(500);
  assert.equal(polls, 2);
  await clock.run(10_000);
  assert.equal(polls, 6);
});

test("a value that its codec does not give back fails the bundle where codecs are checked", async () => {
  const source = batches("source", text, [{ values: [7 as never] }]);
  const copy = sink("copy", text, () => undefined);
  const { clock, job } = start(
    [source, copy],
    (p) => void p.each("Copy", copy, {}, p.reshuffle("Spread", p.source("S", source, {}).out)),
    {
      bundleTries: 1,
    },
  );
  await clock.run(10);
  assert.match(String(((await job.done).error as Error).cause), /not of its codec: : not a text/);
});

test("a context used after its bundle has ended says so", async () => {
  let late: unknown;
  const source = batches("source", word, [{ values: words("a") }]);
  const keep = each("keep", codecs, (value, emit) => {
    Promise.resolve()
      .then(() => sleep(clock, 10))
      .then(() => emit(value))
      .catch((error) => {
        late = error;
      });
  });
  const { clock } = start([source, keep], (p) => void p.each("Keep", keep, {}, p.source("Source", source, {}).out));
  await clock.run(100);
  assert.match(String(late), /Source: a bundle was used after its end/);
});
