import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { Passage } from "../../../beam/embedded/watermarks.ts";
import type { PipelineBuilder } from "../../../beam/pipeline.ts";
import { sleep } from "../../../ports/clock.ts";
import type { VirtualClock } from "../../lib/virtual-clock.ts";
import { type BagContext, baggedWordsDoFn, batches, each, keyedWord, keyedWords, keyedWordsDoFn, start } from "../lib.ts";

type Pairs = [key: string, word: string][];
interface Given {
  pairs: Pairs;
  waitMs?: number;
  watermark?: number;
}

const source = (name: string, given: readonly Given[]) =>
  batches(
    name,
    keyedWord,
    given.map(({ pairs, ...more }) => ({ values: keyedWords(...pairs), ...more })),
  );

/** Sets the timer `bell` for what the word says; tells what fires as `key@now`. */
function alarms(onTimer: (context: BagContext) => void = () => undefined) {
  const fired: string[] = [];
  let clock: VirtualClock | undefined;
  const doFn = baggedWordsDoFn(
    "alarms",
    ({ word }, context) => (word === "clear" ? context.clearTimer("bell") : context.setTimer("bell", Number(word))),
    (family, context) => {
      fired.push(`${context.key}@${clock!.now()}`);
      assert.equal(family, "bell");
      onTimer(context);
    },
  );
  const on = (of: VirtualClock): void => {
    clock = of;
  };
  return { doFn, fired, on };
}

async function run(given: readonly Given[], { doFn, fired, on }: ReturnType<typeof alarms>, untilMs = 10_000) {
  const words = source("source", given);
  const { clock, job } = start([words, doFn], (p) => void p.keyed("Keyed", doFn, {}, p.source("Source", words, {}).out));
  on(clock);
  await clock.run(untilMs);
  return { clock, job, fired };
}

suite("a timer of event time", () => {
  const cases: [situation: string, given: Given[], fired: string[]][] = [
    [
      "fires once the source has told its time, not before",
      [
        { pairs: [["a", "2000"]], waitMs: 100, watermark: 1000 },
        { pairs: [], waitMs: 100, watermark: 1999 },
        { pairs: [], waitMs: 100, watermark: 2000 },
      ],
      ["a@200"],
    ],
    [
      "that is set for a time which has passed fires at once",
      [
        { pairs: [], waitMs: 100, watermark: 5000 },
        { pairs: [["a", "2000"]], waitMs: 100, watermark: 5000 },
      ],
      ["a@100"],
    ],
    [
      "fires no earlier where the source falls back",
      [
        { pairs: [["a", "2000"]], waitMs: 100, watermark: 1999 },
        { pairs: [], waitMs: 100, watermark: 7 },
        { pairs: [], waitMs: 100, watermark: 2001 },
      ],
      ["a@200"],
    ],
    [
      "set anew fires for its last time alone, and cleared not at all",
      [
        {
          pairs: [
            ["a", "1000"],
            ["b", "1000"],
          ],
          waitMs: 100,
          watermark: 500,
        },
        {
          pairs: [
            ["a", "3000"],
            ["b", "clear"],
          ],
          waitMs: 100,
          watermark: 2999,
        },
        { pairs: [], waitMs: 100, watermark: 3000 },
      ],
      ["a@200"],
    ],
    [
      "of a source that tells no time fires by the time of its polls",
      [
        { pairs: [["a", "150"]], waitMs: 100 },
        { pairs: [], waitMs: 100 },
        { pairs: [], waitMs: 100 },
      ],
      ["a@200"],
    ],
  ];
  for (const [situation, given, expected] of cases)
    test(situation, async () => assert.deepEqual((await run(given, alarms())).fired, expected));

  test("waits for what came before the time to be through, also at keys of its own that are slow", async () => {
    const trace: string[] = [];
    let clock: VirtualClock;
    const slow = baggedWordsDoFn(
      "slow",
      async ({ word }, context) => {
        if (word === "slow") await sleep(clock, 500);
        else context.setTimer("bell", Number(word));
        trace.push(`${context.key}@${clock.now()}`);
      },
      (_family, { key }) => void trace.push(`${key} rings@${clock.now()}`),
    );
    const given = [
      {
        pairs: [
          ["a", "slow"],
          ["b", "1000"],
        ] as Pairs,
        waitMs: 100,
        watermark: 1000,
      },
      { pairs: [["c", "slow"]] as Pairs, watermark: 1000 },
    ];
    const words = source("source", given);
    const job = start([words, slow], (p) => void p.keyed("Keyed", slow, {}, p.source("Source", words, {}).out));
    clock = job.clock;
    await clock.run(10_000);
    assert.deepEqual(trace, ["b@0", "a@500", "b rings@500", "c@600"]);
  });

  test("behind other stages and a flatten waits for the slower of two sources, and for earlier timers on the way", async () => {
    const trace: string[] = [];
    let clock: VirtualClock;
    const [left, right] = [
      source("left", [
        { pairs: [["a", "1000"]], waitMs: 100, watermark: 500 },
        { pairs: [], watermark: 5000 },
      ]),
      source("right", [
        { pairs: [["b", "4000"]], waitMs: 300, watermark: 500 },
        { pairs: [], waitMs: 300, watermark: 4500 },
        { pairs: [], watermark: 6000 },
      ]),
    ];
    // Rings twice, five hundred apart; each ring sends the key on with its time.
    const first = baggedWordsDoFn(
      "first",
      async ({ word }, context) => {
        context.state("memo").set({ count: Number(word) });
        context.setTimer("bell", Number(word));
      },
      async (_family, context) => {
        const { count } = (await context.state("memo").get())!;
        trace.push(`${context.key} first ${count}@${clock.now()}`);
        context.emit("out", { key: context.key, value: { word: `${count + 1}` } });
        if (count % 1000 === 0) context.setTimer("bell", count + 500);
        context.state("memo").set({ count: count + 500 });
      },
    );
    const late = each("late", { in: keyedWord, out: keyedWord }, async (value, emit) => {
      await sleep(clock, 10);
      emit(value);
    });
    const second = alarms((context) => void trace.push(`${context.key} second@${clock.now()}`));
    const build = (p: PipelineBuilder) => {
      const both = p.flatten("Both", p.source("Left", left, {}).out, p.source("Right", right, {}).out);
      const rung = p.keyed("First", first, {}, both);
      const spread = p.each("Late", late, {}, p.reshuffle("Spread", rung.out));
      p.keyed("Second", second.doFn, {}, spread.out);
    };
    const job = start([left, right, first, late, second.doFn], build);
    clock = job.clock;
    second.on(clock);
    await clock.run(10_000);
    assert.deepEqual(trace, [
      "a first 1000@300",
      "b first 4000@300",
      "a first 1500@300",
      "b first 4500@300",
      "a second@310",
      "b second@600",
    ]);
    assert.deepEqual(second.fired.length, 2);
  });

  test("that stands when the job is stopped fires then, at the end of event time; one that it sets does not", async () => {
    const ring = alarms((context) => context.setTimer("bell", 9_000_000));
    const { job, clock } = await run(
      [
        {
          pairs: [
            ["a", "5000"],
            ["b", "1"],
          ],
          watermark: 100,
        },
      ],
      ring,
      50,
    );
    assert.deepEqual(ring.fired, ["b@0"]);
    assert.equal(job.quiet(), true, "a timer that waits does not count");
    const stopped = job.stop();
    await clock.run(100);
    await stopped;
    assert.deepEqual(ring.fired, ["b@0", "a@50", "b@50"]);
    assert.deepEqual(await job.done, { state: "stopped" });
  });

  test("drains stage by stage: what the first gives at the end still sets the second's, whose timers fire; a failed job fires none", async () => {
    const trace: string[] = [];
    const words = source("source", [{ pairs: [["a", "5000"]], watermark: 100 }]);
    const first = alarms((context) => context.emit("out", { key: context.key, value: { word: "7000" } }));
    const second = alarms(() => void trace.push("second"));
    const named = { ...second.doFn, name: "second" };
    const drained = start([words, first.doFn, named], (p) => {
      p.keyed("Second", named, {}, p.keyed("First", first.doFn, {}, p.source("Source", words, {}).out).out);
    });
    for (const one of [first, second]) one.on(drained.clock);
    await drained.clock.run(10);
    void drained.job.stop();
    await drained.clock.run(20);
    assert.deepEqual([trace, await drained.job.done], [["second"], { state: "stopped" }]);

    const broken = baggedWordsDoFn(
      "alarms",
      ({ word }, context) => {
        context.setTimer("bell", 5);
        if (word === "bad") throw new Error("no luck");
      },
      () => void trace.push("rings"),
    );
    const bad = source("bad", [
      {
        pairs: [
          ["a", "1"],
          ["b", "bad"],
        ],
        watermark: 1,
      },
    ]);
    const failed = start([bad, broken], (p) => void p.keyed("Keyed", broken, {}, p.source("Source", bad, {}).out), {
      bundleTries: 1,
    });
    await failed.clock.run(10_000);
    assert.equal((await failed.job.done).state, "failed");
    assert.deepEqual(trace, ["second"]);
  });

  test("are all fired when more are due than may wait, and set in a failed try are not kept", async () => {
    const rung = new Set<string>();
    let failures = 1;
    const doFn = baggedWordsDoFn(
      "timed",
      ({ word }, context) => {
        context.setTimer("bell", failures > 0 ? 10 : 1000);
        if (word === "bad" && failures-- > 0) throw new Error("no luck");
      },
      (_, context) => void rung.add(context.key),
    );
    const pairs = Array.from({ length: 500 }, (_, key): [string, string] => [`k${key}`, key === 0 ? "bad" : ""]);
    const words = source("source", [
      { pairs, waitMs: 5000, watermark: 1 },
      { pairs: [], waitMs: 5000, watermark: 999 },
      { pairs: [], watermark: 1000 },
    ]);
    const { clock } = start([words, doFn], (p) => void p.keyed("Keyed", doFn, {}, p.source("Source", words, {}).out), {
      stageElements: 8,
      bundleElements: 4,
    });
    await clock.run(9000);
    assert.equal(rung.has("k0"), false);
    await clock.run(10_001);
    assert.equal(rung.size, 500);
  });
});

test("a source whose watermark is no number fails its poll", async () => {
  const words = source("source", [{ pairs: [], watermark: Number.NaN }]);
  const doFn = keyedWordsDoFn("any", () => undefined);
  const { clock, job } = start([words, doFn], (p) => void p.keyed("Keyed", doFn, {}, p.source("Source", words, {}).out), {
    bundleTries: 1,
  });
  await clock.run(10);
  assert.match(String(((await job.done).error as Error).cause), /watermark .* NaN/);
});

suite("a passage", () => {
  type Step = { do: "came" | "taken"; line: number } | { do: "left"; which: number } | { do: "mark" };
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ do: fc.constantFrom("came" as const, "taken" as const), line: fc.nat({ max: 3 }) }),
    fc.record({ do: fc.constant("left" as const), which: fc.nat() }),
    fc.record({ do: fc.constant("mark" as const) }),
  );

  test("is through just when all that was inside at the mark has left, whatever comes, is taken and leaves meanwhile", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const passage = new Passage<number>();
        let ids = 0;
        const lines: number[][] = [[], [], [], []];
        const out: { ids: number[]; taken: ReturnType<typeof passage.taken> }[] = [];
        let older: Set<number> | undefined;
        let through = true;
        for (const one of steps) {
          if (one.do === "came") {
            lines[one.line]!.push(ids++);
            passage.came(one.line);
          } else if (one.do === "taken" && lines[one.line]!.length > 0) {
            const took = lines[one.line]!.splice(0, 1 + (lines[one.line]!.length >> 1));
            out.push({ ids: took, taken: passage.taken(one.line, took.length) });
          } else if (one.do === "left" && out.length > 0) {
            const [gone] = out.splice(one.which % out.length, 1);
            for (const id of gone!.ids) older?.delete(id);
            passage.left(gone!.taken);
          } else if (one.do === "mark" && through) {
            older = new Set([...lines.flat(), ...out.flatMap((bundle) => bundle.ids)]);
            through = false;
            void passage.through().then(() => {
              through = true;
            });
          }
          await Promise.resolve();
          await Promise.resolve();
          if (older !== undefined) assert.equal(through, older.size === 0);
        }
      }),
    );
  });
});
