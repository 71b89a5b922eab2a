import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { baggedWordsDoFn, batches, keyedWord } from "../lib.ts";
import { AT, clock, keyedBytes, readTimers, stageOf, startAtFake, timerBytes } from "./lib.ts";

const source = batches("source", keyedWord, []);

type Pairs = [key: string, word: string][];
interface Given {
  pairs?: Pairs;
  /** By family. */
  timers?: Record<string, { key: string; holdAt?: number }[]>;
  token?: string;
}

type Options = NonNullable<Parameters<typeof startAtFake>[2]>;

/** A stage of one DoFn with a bag and a timer of event time. */
async function startBagged(
  t: Parameters<typeof startAtFake>[0],
  doFn: ReturnType<typeof baggedWordsDoFn>,
  options: Options = {},
) {
  const { runner, harness } = await startAtFake(t, [doFn], options);
  const build: Parameters<typeof stageOf>[0] = (p) => void p.keyed("Keyed", doFn, {}, p.source("Source", source, {}).out);
  const descriptor = stageOf(build, { only: ["Keyed"], endpoint: runner.endpoint });
  const id = Object.keys(descriptor.transforms).find((name) => descriptor.transforms[name]!.uniqueName === "Keyed")!;
  runner.register(descriptor);
  async function run({ pairs = [], timers: firing = {}, token }: Given) {
    const named = Object.entries(firing).map(([family, of]) => [`${id}/${family}`, [timerBytes(...of)]]);
    const { error, timers } = await runner.bundle({
      ...{ descriptor: "stage", families: [`${id}/bell`, `${id}/horn`] },
      data: { in: pairs.length > 0 ? [keyedBytes(...pairs)] : [] },
      timers: Object.fromEntries(named),
      ...(token !== undefined && { token }),
    });
    return { error, bell: readTimers(timers[`${id}/bell`]), horn: readTimers(timers[`${id}/horn`]) };
  }
  const asked = () => {
    const of = (kind: string) => runner.asked.filter(({ request }) => request.oneofKind === kind).length;
    return [of("get"), of("clear"), of("append")];
  };
  return { runner, harness, run, asked };
}

/** Words are orders to the key's bag; what is read of it goes into the trace, as `key:a b`. */
const orders = (trace: string[] = []) =>
  baggedWordsDoFn("orders", async ({ word }, context) => {
    const log = context.bag("log");
    if (word === "read") trace.push(`${context.key}:${(await log.read()).join(" ")}`);
    else if (word === "clear") log.clear();
    else if (word === "fail") throw new Error("no luck");
    else log.add(word);
  });

const ofKey = (key: string, ...words: string[]): Pairs => words.map((word) => [key, word]);

suite("a bag of a key", () => {
  const cases: [situation: string, bundles: Pairs[], trace: string[], asked: number[]][] = [
    [
      "that is only added to is never read, and written once a bundle",
      [ofKey("a", "1", "2", "3"), ofKey("a", "4")],
      [],
      [0, 0, 2],
    ],
    [
      "shows a bundle its own writes, and outlives it",
      [ofKey("a", "1", "read", "2", "read"), ofKey("a", "3", "read")],
      ["a:1", "a:1 2", "a:1 2 3"],
      [2, 0, 2],
    ],
    ["is read once a bundle, however often", [ofKey("a", "read", "read", "read")], ["a:", "a:", "a:"], [1, 0, 0]],
    [
      "that is cleared unread is not read, and holds what was added since",
      [ofKey("a", "1", "clear", "2", "read"), ofKey("a", "read")],
      ["a:2", "a:2"],
      [1, 1, 1],
    ],
    ["that is known to be empty is not cleared", [ofKey("a", "read", "1", "clear")], ["a:"], [1, 0, 0]],
    [
      "that was read and is cleared is empty",
      [ofKey("a", "1", "2"), ofKey("a", "read", "clear"), ofKey("a", "read")],
      ["a:", "a:1 2"],
      [2, 1, 1],
    ],
    [
      "is the key's own",
      [
        [...ofKey("a", "1"), ...ofKey("b", "2")],
        [...ofKey("a", "read"), ...ofKey("b", "read")],
      ],
      ["a:1", "b:2"],
      [2, 0, 2],
    ],
  ];
  for (const [situation, bundles, expected, requests] of cases)
    test(situation, async (t) => {
      const trace: string[] = [];
      const { run, asked } = await startBagged(t, orders(trace));
      for (const pairs of bundles) assert.equal((await run({ pairs })).error, "");
      assert.deepEqual([trace.sort(), asked()], [expected, requests]);
    });

  test("that comes in pieces by continuation tokens is put together", async (t) => {
    const trace: string[] = [];
    const { run } = await startBagged(t, orders(trace), { fake: { stateChunk: 3 } });
    await run({ pairs: ofKey("a", "first", "second") });
    await run({ pairs: ofKey("a", "read") });
    assert.deepEqual(trace, ["a:first second"]);
  });

  test("is not read again while the runner's token is the same, and what a failed bundle did with it is not kept", async (t) => {
    const trace: string[] = [];
    const { run, asked, harness } = await startBagged(t, orders(trace));
    await run({ pairs: ofKey("a", "read", "1"), token: "one" });
    await run({ pairs: ofKey("a", "2"), token: "one" });
    await run({ pairs: ofKey("a", "read", "clear", "read"), token: "one" });
    await run({ pairs: ofKey("a", "read", "3"), token: "one" });
    assert.deepEqual(
      [trace, asked()],
      [
        ["a:", "a:1 2", "a:", "a:"],
        [1, 1, 3],
      ],
    );
    assert.equal(harness.health().kept.cacheEntries, 1);
    assert.match((await run({ pairs: ofKey("a", "4", "fail"), token: "one" })).error, /no luck/);
    assert.equal(harness.health().kept.cacheEntries, 0);
    await run({ pairs: ofKey("a", "read"), token: "one" });
    assert.deepEqual([trace.at(-1), asked()], ["a:3", [2, 1, 3]]);
  });

  test("of ten thousand values comes back whole", async (t) => {
    const trace: string[] = [];
    const words = Array.from({ length: 10_000 }, (_, index) => String(index));
    const { run, asked } = await startBagged(t, orders(trace));
    await run({ pairs: ofKey("a", ...words) });
    await run({ pairs: ofKey("a", "read") });
    assert.equal(trace[0]!.split(" ").length, 10_000);
    assert.deepEqual(asked(), [1, 0, 1]);
  });

  test("that is not declared fails the bundle, and so does a cell's name for a bag, and a bag's for a cell", async (t) => {
    const odd = baggedWordsDoFn(
      "odd",
      ({ word }, context) => void (word === "bag" ? context.bag("memo" as never) : context.state("log" as never)),
    );
    const { run } = await startBagged(t, odd);
    assert.match((await run({ pairs: ofKey("a", "bag") })).error, /odd declares no bag 'memo'/);
    assert.match((await run({ pairs: ofKey("a", "cell") })).error, /odd declares no state cell 'log'/);
  });
});

test("a timer of event time is set, fires, and holds no time after its own", async (t) => {
  const fired: string[] = [];
  const doFn = baggedWordsDoFn(
    "timed",
    ({ word }, context) => {
      context.setTimer("bell", AT + Number(word));
      context.setTimer("horn", AT + Number(word));
    },
    (family, context) => {
      fired.push(`${context.key} ${family}`);
      context.setTimer("bell", AT + 9000);
    },
  );
  const { run } = await startBagged(t, doFn);
  const before = clock.now();
  const { bell, horn } = await run({ pairs: ofKey("a", "5"), timers: { bell: [{ key: "b" }] } });
  assert.deepEqual(bell, [
    { key: "a", fireAt: AT + 5, holdAt: AT + 5 },
    { key: "b", fireAt: AT + 9000, holdAt: AT + 9000 },
  ]);
  assert.ok(horn[0]!.holdAt! >= before, "one of processing time holds the time at which it was set");
  assert.deepEqual(fired, ["b bell"]);
});

test("a timer of processing time that the runner lets fire as of 1970 was cleared there; one of event time may be of that time", async (t) => {
  const fired: string[] = [];
  const doFn = baggedWordsDoFn(
    "cleared",
    () => undefined,
    (family, { key }) => void fired.push(`${key} ${family}`),
  );
  const { run } = await startBagged(t, doFn);
  const timers = { horn: [{ key: "a", holdAt: 0 }, { key: "b" }], bell: [{ key: "c", holdAt: 0 }] };
  assert.equal((await run({ timers })).error, "");
  assert.deepEqual(fired.sort(), ["b horn", "c bell"]);
});
