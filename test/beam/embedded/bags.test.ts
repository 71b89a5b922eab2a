import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type BagContext, baggedWordsDoFn, batches, keyedWord, keyedWords, start } from "../lib.ts";

type Pairs = [key: string, word: string][];

/** Words are orders to the key's bag; what is read of it, as `key:a b`. */
async function read(given: Pairs[], options: Parameters<typeof start>[2] = {}, after?: (context: BagContext) => void) {
  const trace: string[] = [];
  let failures = 1;
  const doFn = baggedWordsDoFn("bags", async ({ word }, context) => {
    const log = context.bag("log");
    if (word === "read") trace.push(`${context.key}:${(await log.read()).join(" ")}`);
    else if (word === "clear") log.clear();
    else if (word === "fail" && failures-- > 0) throw new Error("no luck");
    else if (word === "fail") return;
    else log.add(word);
    after?.(context);
  });
  const source = batches(
    "source",
    keyedWord,
    given.map((pairs) => ({ values: keyedWords(...pairs), waitMs: 10_000 })),
  );
  const { clock, job, logged } = start(
    [source, doFn],
    (p) => void p.keyed("Keyed", doFn, {}, p.source("Source", source, {}).out),
    options,
  );
  await clock.run(60_000);
  return { trace, job, logged };
}

const ofKey = (key: string, ...words: string[]): Pairs => words.map((word) => [key, word]);

suite("a bag of a key", () => {
  const cases: [situation: string, given: Pairs[], trace: string[]][] = [
    ["is empty at first, and shows a bundle its own writes", [ofKey("a", "read", "1", "2", "read")], ["a:", "a:1 2"]],
    ["outlives the bundle and is added to", [ofKey("a", "1"), ofKey("a", "2", "read"), ofKey("a", "read")], ["a:1 2", "a:1 2"]],
    [
      "that is cleared holds what was added since",
      [ofKey("a", "1"), ofKey("a", "2", "clear", "3", "read"), ofKey("a", "read")],
      ["a:3", "a:3"],
    ],
    [
      "is the key's own",
      [
        [
          ["a", "1"],
          ["b", "2"],
        ],
        [
          ["a", "read"],
          ["b", "read"],
        ],
      ],
      ["a:1", "b:2"],
    ],
  ];
  for (const [situation, given, expected] of cases)
    test(situation, async () => assert.deepEqual((await read(given)).trace.sort(), expected));

  test("that is empty again, like one never filled, keeps no key", async () => {
    const { job } = await read([ofKey("a", "1", "clear"), ofKey("b", "1"), ofKey("b", "clear"), ofKey("c", "1")]);
    assert.equal(job.stats().Keyed!.keys, 1);
  });

  test("of a bundle that fails is as before it", async () => {
    const { trace, logged } = await read([
      ofKey("a", "1"),
      ofKey("a", "2", "read", "fail"),
      ofKey("a", "clear", "fail", "read"),
    ]);
    assert.deepEqual(trace, ["a:1 2", "a:1 2", "a:"]);
    assert.deepEqual(logged, ["warn: a bundle failed"]);
  });

  test("that is not declared is refused, and so is a cell's name for a bag, and a bag's for a cell", async () => {
    for (const use of [
      (context: BagContext) => void context.bag("memo" as never),
      (context: BagContext) => void context.state("log" as never),
    ]) {
      const { job } = await read([ofKey("a", "1")], { bundleTries: 1 }, use);
      assert.match(String(((await job.done).error as Error).cause), /declares no (?:bag 'memo'|state cell 'log')/);
    }
  });
});
