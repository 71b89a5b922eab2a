import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyDefinition } from "../../beam/pardo.ts";
import { batches, keyedWord, keyedWords, keyedWordsDoFn, start } from "../beam/lib.ts";
import { chance } from "./chance.ts";
import { faultyDefinition } from "./engine-faults.ts";
import type { Weather } from "./faults.ts";
import { type FaultName, strong } from "./plan.ts";

const WORDS = 400;

interface Seen {
  /** How often each word was processed. */
  times: Map<string, number>;
  /** In the state, at the end. */
  count: number;
  /** Writes of it that were seen. */
  states: number;
  rings: number;
}

/** Words of one key, one at a time and a second apart, counted in state; a timer is set by each. */
async function processed(...faults: FaultName[]): Promise<Seen> {
  const seen: Seen = { times: new Map(), count: 0, states: 0, rings: 0 };
  const doFn = keyedWordsDoFn(
    "Count",
    async ({ word }, context) => {
      seen.times.set(word, (seen.times.get(word) ?? 0) + 1);
      const { count } = (await context.state("memo").get()) ?? { count: 0 };
      seen.count = count + 1;
      context.state("memo").set({ count: count + 1 });
      context.setTimer("bell", 10_000_000);
    },
    () => {
      seen.rings++;
    },
  );
  const weather: Weather = {
    plan: strong(...faults),
    draw: chance(3, "weather"),
    clock: { now: () => 0, after: () => () => {} },
    stormy: () => true,
  };
  const faulty = faultyDefinition(doFn as AnyDefinition, weather, () => seen.states++);
  const given = Array.from({ length: WORDS }, (_, at) => ({ values: keyedWords(["key", String(at)]), waitMs: 1_000 }));
  const source = batches("source", keyedWord, given);
  const run = start(
    [source, faulty],
    (p) => void p.keyed("Count", faulty as typeof doFn, {}, p.source("Source", source, {}).out),
  );
  await run.clock.run(11_000_000);
  return seen;
}

test("engine faults: without any, each element is processed once, and the states that are written are seen", async () => {
  const { times, count, states, rings } = await processed();
  assert.deepEqual([times.size, count, states, rings], [WORDS, WORDS, WORDS, 1]);
  assert.deepEqual(new Set(times.values()), new Set([1]));
});

test("engine faults: a bundle that fails at its end runs again, and its first run leaves nothing in the state", async () => {
  const { times, count } = await processed("bundles-twice");
  assert.equal(count, WORDS);
  const twice = [...times.values()].filter((each) => each > 1).length;
  assert.ok(twice > 0 && twice < WORDS / 4, String(twice));
});

test("engine faults: a bundle that is committed and runs again finds the state as its first run left it", async () => {
  const { times, count } = await processed("bundles-again");
  const runs = [...times.values()].reduce((sum, each) => sum + each, 0);
  assert.equal(times.size, WORDS);
  assert.ok(runs > WORDS);
  assert.equal(count, runs);
});
