import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { sleep } from "../../../ports/clock.ts";
import type { VirtualClock } from "../../lib/virtual-clock.ts";
import { batches, each, keyedWord, keyedWords, keyedWordsDoFn, sink, start, type WordContext } from "../lib.ts";

type Pairs = [key: string, word: string][];

/** A source of these words, at these times, into a keyed DoFn. */
function startKeyed(
  given: { waitMs?: number; pairs: Pairs }[],
  doFn: ReturnType<typeof keyedWordsDoFn>,
  options: Parameters<typeof start>[2] = {},
) {
  const source = batches(
    "source",
    keyedWord,
    given.map(({ waitMs, pairs }) => ({ values: keyedWords(...pairs), ...(waitMs !== undefined && { waitMs }) })),
  );
  return start([source, doFn], (p) => void p.keyed("Keyed", doFn, {}, p.source("Source", source, {}).out), options);
}

suite("the elements of a key", () => {
  test("come one after another in their order, those of other keys between them", async () => {
    const trace: string[] = [];
    let clock: VirtualClock;
    const doFn = keyedWordsDoFn("slow", async ({ word }, { key }) => {
      trace.push(`${key}${word} begins`);
      await sleep(clock, word === "1" ? 30 : 10);
      trace.push(`${key}${word} ends`);
    });
    const pairs: Pairs = [
      ["a", "1"],
      ["a", "2"],
      ["b", "1"],
      ["a", "3"],
    ];
    const run = startKeyed([{ pairs }, { pairs: [["b", "2"]] }], doFn);
    clock = run.clock;
    await clock.run(100);
    const of = (key: string) => trace.filter((line) => line.startsWith(key)).map((line) => line.slice(1));
    assert.deepEqual(of("a"), ["1 begins", "1 ends", "2 begins", "2 ends", "3 begins", "3 ends"]);
    assert.deepEqual(of("b"), ["1 begins", "1 ends", "2 begins", "2 ends"]);
    assert.ok(trace.indexOf("b1 begins") < trace.indexOf("a1 ends"));
    assert.ok(run.job.quiet());
  });

  test("of which one is held for ten seconds hold up no other key, in later bundles neither", async () => {
    const KEYS = 50;
    const rounds = 120; // one every 100 ms
    const counts = async (heldMs: number) => {
      const done = new Map<string, number[]>();
      let clock: VirtualClock;
      const doFn = keyedWordsDoFn("count", async ({ word }, { key }) => {
        if (key === "k0" && word === "0") await sleep(clock, heldMs);
        done.set(key, [...(done.get(key) ?? []), clock.now()]);
      });
      const pairs = (round: number): Pairs => Array.from({ length: KEYS }, (_, key) => [`k${key}`, String(round)]);
      const given = Array.from({ length: rounds }, (_, round) => ({ waitMs: 100, pairs: pairs(round) }));
      const run = startKeyed(given, doFn, { bundleElements: 16, stageElements: 256 });
      clock = run.clock;
      await clock.run(20_000);
      return done;
    };
    const [free, held] = [await counts(0), await counts(10_000)];
    for (let key = 1; key < KEYS; key++) assert.deepEqual(held.get(`k${key}`), free.get(`k${key}`));
    assert.equal(held.get("k0")!.length, rounds);
    assert.equal(held.get("k0")![0], 10_000);
  });
});

suite("the state of a key", () => {
  test("shows a bundle its own writes, outlives the bundle, and is the key's own", async () => {
    const read: string[] = [];
    const doFn = keyedWordsDoFn("sum", async ({ word }, context) => {
      const memo = context.state("memo");
      const before = (await memo.get())?.count;
      read.push(`${context.key}:${before}`);
      if (word === "clear") memo.clear();
      else memo.set({ count: (before ?? 0) + Number(word) });
    });
    const first: Pairs = [
      ["a", "1"],
      ["a", "2"],
      ["b", "5"],
      ["a", "clear"],
      ["a", "4"],
    ];
    const { clock, job } = startKeyed(
      [
        { pairs: first, waitMs: 10 },
        {
          pairs: [
            ["a", "0"],
            ["b", "clear"],
          ],
        },
      ],
      doFn,
    );
    await clock.run(100);
    const of = (key: string) => read.filter((line) => line.startsWith(key));
    assert.deepEqual(of("a"), ["a:undefined", "a:1", "a:3", "a:undefined", "a:4"]);
    assert.deepEqual(of("b"), ["b:undefined", "b:5"]);
    assert.equal(job.stats().Keyed!.keys, 1, "a key without state and timers is forgotten");
  });

  test("of a bundle that fails is as before it, its timers and outputs too", async () => {
    const trace: string[] = [];
    let failures = 2;
    const doFn = keyedWordsDoFn(
      "fragile",
      async ({ word }, context) => {
        const memo = context.state("memo");
        trace.push(`${word} reads ${(await memo.get())?.count ?? 0}`);
        memo.set({ count: Number(word) });
        context.setTimer(word === "1" ? "bell" : "horn", 60_000);
        context.emit("out", { key: context.key, value: { word } });
        if (word === "2" && failures-- > 0) throw new Error("no luck");
      },
      (family) => void trace.push(`${family} fires`),
    );
    const out: string[] = [];
    const source = batches("source", keyedWord, [{ values: keyedWords(["a", "1"]) }, { values: keyedWords(["a", "2"]) }]);
    const collect = sink("collect", keyedWord, ({ value }) => void out.push(value.word));
    const { clock, logged } = start([source, doFn, collect], (p) => {
      p.each("Collect", collect, {}, p.reshuffle("Spread", p.keyed("Keyed", doFn, {}, p.source("Source", source, {}).out).out));
    });
    await clock.run(30_000);
    assert.deepEqual(trace, ["1 reads 0", "2 reads 1", "2 reads 1", "2 reads 1"]);
    assert.deepEqual(out, ["1", "2"]);
    assert.equal(logged.filter((line) => line === "warn: a bundle failed").length, 2);
    await clock.run(60_000);
    assert.deepEqual(trace.slice(4), ["bell fires", "horn fires"]);
  });

  test("is refused where its codec would not give it back", async () => {
    const doFn = keyedWordsDoFn("loose", (_, context) => context.state("memo").set({ count: 1, more: 2 } as never));
    const { clock, job } = startKeyed([{ pairs: [["a", "1"]] }], doFn, { bundleTries: 1 });
    await clock.run(10);
    const { error } = await job.done;
    assert.match(String((error as Error).cause), /gives back something else/);
  });
});

test("a keyed bundle that fails is tried again once all that it began has ended", async () => {
  const trace: string[] = [];
  let clock: VirtualClock;
  let failures = 1;
  const source = batches("source", keyedWord, [{ values: keyedWords(["a", "1"]) }]);
  const doFn = keyedWordsDoFn("fragile", (value, context) => {
    trace.push(`try@${clock.now()}`);
    context.emit("out", { key: context.key, value });
    if (failures-- > 0) throw new Error("no luck");
  });
  const slow = each("slow", { in: keyedWord, out: keyedWord }, async () => {
    await sleep(clock, 5000);
    trace.push(`end@${clock.now()}`);
  });
  const run = start([source, doFn, slow], (p) => {
    p.each("Slow", slow, {}, p.keyed("Fragile", doFn, {}, p.source("Source", source, {}).out).out);
  });
  clock = run.clock;
  await clock.run(60_000);
  assert.deepEqual(trace.slice(0, 2), ["try@0", "end@5000"]);
  assert.equal(trace.length, 4);
});

suite("the timers of a key", () => {
  type Script = Record<string, (context: WordContext) => void>;
  /** What fires, as `family@time`; words are orders to the key `a`, one each 100 ms. */
  async function fired(orders: string[], script: Script): Promise<string[]> {
    const fires: string[] = [];
    let clock: VirtualClock;
    const doFn = keyedWordsDoFn(
      "timed",
      ({ word }, context) => script[word]!(context),
      (family, context) => {
        fires.push(`${family}@${clock.now()}`);
        script[family]?.(context);
      },
    );
    const run = startKeyed(
      orders.map((order) => ({ waitMs: 100, pairs: [["a", order]] })),
      doFn,
    );
    clock = run.clock;
    await clock.run(10_000);
    assert.ok(run.job.quiet());
    return fires;
  }

  let rings = 0;
  const cases: [situation: string, orders: string[], script: Script, fires: string[]][] = [
    ["set once fires once", ["set"], { set: (c) => c.setTimer("bell", 500) }, ["bell@500"]],
    ["overdue when set fires at once", ["set"], { set: (c) => c.setTimer("bell", -1) }, ["bell@0"]],
    [
      "set again fires at the later time only",
      ["set", "again"],
      { set: (c) => c.setTimer("bell", 500), again: (c) => c.setTimer("bell", 700) },
      ["bell@700"],
    ],
    [
      "set again fires at the earlier time only",
      ["set", "again"],
      { set: (c) => c.setTimer("bell", 500), again: (c) => c.setTimer("bell", 300) },
      ["bell@300"],
    ],
    [
      "cleared does not fire",
      ["set", "clear"],
      { set: (c) => c.setTimer("bell", 500), clear: (c) => c.clearTimer("bell") },
      [],
    ],
    [
      "of two families fires for each, and one cleared leaves the other",
      ["both", "clear", "again"],
      {
        both: (c) => {
          c.setTimer("bell", 400);
          c.setTimer("horn", 300);
        },
        clear: (c) => c.clearTimer("horn"),
        again: (c) => c.setTimer("horn", 350),
      },
      ["horn@350", "bell@400"],
    ],
    [
      "set and cleared in one call does not fire",
      ["set"],
      {
        set: (c) => {
          c.setTimer("bell", 500);
          c.clearTimer("bell");
        },
      },
      [],
    ],
    [
      "set in onTimer fires again, of the other family too",
      ["set"],
      {
        set: (c) => c.setTimer("bell", 100),
        bell: (c) => {
          if (++rings < 3) c.setTimer("bell", 100 + rings * 50);
          else c.setTimer("horn", 1000);
        },
      },
      ["bell@100", "bell@150", "bell@200", "horn@1000"],
    ],
  ];
  for (const [situation, orders, script, expected] of cases)
    test(situation, async () => assert.deepEqual(await fired(orders, script), expected));

  const late: [situation: string, second: Pairs, third: Pairs, trace: string[]][] = [
    ["and only if the work leaves them standing", [["a", "clear"]], [], ["set@5", "clear@60", "horn@60"]],
    [
      "and only if what waits before them does",
      [["a", "work"]],
      [["a", "clear"]],
      ["set@5", "work@60", "clear@110", "horn@110"],
    ],
    [
      "behind what came before they were due",
      [["a", "work"]],
      [["a", "work"]],
      ["set@5", "work@60", "work@110", "bell@110", "horn@110"],
    ],
  ];
  for (const [situation, second, third, expected] of late)
    test(`that are due while their key is at work wait for it, ${situation}`, async () => {
      const trace: string[] = [];
      let clock: VirtualClock;
      const doFn = keyedWordsDoFn(
        "busy",
        async ({ word }, context) => {
          if (word === "set") {
            context.setTimer("bell", 20);
            context.setTimer("horn", 20);
          } else await sleep(clock, 50);
          if (word === "clear") context.clearTimer("bell");
          trace.push(`${word}@${clock.now()}`);
        },
        (family) => void trace.push(`${family}@${clock.now()}`),
      );
      const given: { waitMs: number; pairs: Pairs }[] = [[["a", "set"]] as Pairs, second, third].map((pairs) => ({
        waitMs: 5,
        pairs,
      }));
      const run = startKeyed([{ waitMs: 5, pairs: [] }, ...given], doFn);
      clock = run.clock;
      await clock.run(1000);
      assert.deepEqual(trace, expected);
    });

  test("nextTimerAt tells the earliest, and a job whose timers wait is quiet", async () => {
    const doFn = keyedWordsDoFn(
      "timed",
      ({ word }, context) => context.setTimer("bell", Number(word)),
      () => undefined,
    );
    const { clock, job } = startKeyed(
      [
        {
          pairs: [
            ["a", "900"],
            ["b", "400"],
          ],
        },
      ],
      doFn,
    );
    await clock.run(100);
    assert.deepEqual([job.nextTimerAt(), job.quiet()], [400, true]);
    await clock.run(400);
    assert.deepEqual([job.nextTimerAt(), job.quiet()], [900, true]);
    await clock.run(900);
    assert.equal(job.nextTimerAt(), undefined);
  });

  test("are all fired when more are due than may wait", async () => {
    const rung = new Set<string>();
    const doFn = keyedWordsDoFn(
      "timed",
      (_, context) => context.setTimer("bell", 1000),
      (_, context) => void rung.add(context.key),
    );
    const pairs = Array.from({ length: 500 }, (_, key): [string, string] => [`k${key}`, ""]);
    const { clock } = startKeyed([{ pairs }], doFn, { stageElements: 8, bundleElements: 4 });
    await clock.run(1000);
    assert.equal(rung.size, 500);
  });

  test("agree with a simple model over any orders for several keys", async () => {
    const order = fc.record({
      key: fc.constantFrom("a", "b", "c"),
      family: fc.constantFrom("bell" as const, "horn" as const),
      /** From the time of the order; odd, so that no timer is due as an order comes. Absent: cleared. */
      after: fc.option(
        fc.integer({ min: -3, max: 40 }).map((half) => half * 2 + 1),
        { nil: undefined },
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(order, { maxLength: 40 }), async (orders) => {
        const fires: string[] = [];
        let clock: VirtualClock;
        const doFn = keyedWordsDoFn(
          "modelled",
          ({ word }, context) => {
            const { family, after } = orders[Number(word)]!;
            if (after === undefined) context.clearTimer(family);
            else context.setTimer(family, clock.now() + after);
          },
          (family, { key }) => void fires.push(`${key} ${family}@${clock.now()}`),
        );
        const run = startKeyed(
          orders.map(({ key }, index) => ({ waitMs: 10, pairs: [[key, String(index)]] })),
          doFn,
        );
        clock = run.clock;
        await clock.run(10_000);
        assert.deepEqual(fires.sort(), modelled(orders).sort());
      }),
      { numRuns: 60 },
    );
  });

  /** Orders come each 10 ms; a timer stands until the next order for it, and fires unless that comes first. */
  function modelled(orders: readonly { key: string; family: string; after: number | undefined }[]): string[] {
    return orders.flatMap(({ key, family, after }, index) => {
      if (after === undefined) return [];
      const next = orders.findIndex((later, at) => at > index && later.key === key && later.family === family);
      const fireAt = index * 10 + Math.max(0, after);
      return next < 0 || fireAt < next * 10 ? [`${key} ${family}@${fireAt}`] : [];
    });
  }
});
