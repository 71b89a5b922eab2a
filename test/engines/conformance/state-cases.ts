// Does each engine keep the state of a key? Cells and bags over bundles, cleared and filled anew, large ones, and those of very many keys.
import type { AnyKeyedDefinition } from "../../../beam/pardo.ts";
import { type BagContext, baggedWordsDoFn, batches, keyedWord, keyedWords } from "../../beam/lib.ts";
import { type Case, forKeys, KEYS, type Pipeline, waves } from "./case.ts";

const WORDS = 4;
/** Each key gets four words in two waves, and then once more. */
const TWICE = [forKeys("1", "2"), forKeys("3", "4"), forKeys("1", "2"), forKeys("3", "4")];

const value: Case = {
  name: "a cell keeps a key's value from bundle to bundle, and nothing once it is cleared",
  expected: [...KEYS, ...KEYS].flatMap((key) => [`${key} has ${WORDS}`, `${key} is empty`]),
  make: (tell) =>
    keyedPipeline(
      waves("value-words", TWICE),
      baggedWordsDoFn("value", async (_word, context) => {
        const memo = context.state("memo");
        const count = await counted(context);
        if (count < WORDS) return;
        tell(`${context.key} has ${count}`);
        memo.clear();
        if ((await memo.get()) === undefined) tell(`${context.key} is empty`);
      }),
    ),
};

const bag: Case = {
  name: "a bag keeps all that is added to it from bundle to bundle, and nothing once it is cleared",
  expected: [...KEYS, ...KEYS].flatMap((key) => [`${key} has 1 2 3 4`, `${key} is empty`]),
  make: (tell) =>
    keyedPipeline(
      waves("bag-words", TWICE),
      baggedWordsDoFn("bag", async ({ word }, context) => {
        const log = context.bag("log");
        log.add(word);
        if ((await counted(context)) < WORDS) return;
        context.state("memo").clear();
        tell(`${context.key} has ${(await log.read()).sort().join(" ")}`);
        log.clear();
        if ((await log.read()).length === 0) tell(`${context.key} is empty`);
      }),
    ),
};

const MEGABYTE = 1024 * 1024;
const PARTS = 4;

const largeState: Case = {
  name: "a bag of several megabytes comes back whole",
  expected: [`a has ${PARTS * MEGABYTE}`],
  make: (tell) =>
    keyedPipeline(
      waves(
        "large-words",
        Array.from({ length: PARTS }, (_, index) => [["a", String(index)]]),
      ),
      baggedWordsDoFn("large-state", async ({ word }, context) => {
        context.bag("log").add(word.repeat(MEGABYTE));
        if ((await counted(context)) < PARTS) return;
        const parts = await context.bag("log").read();
        const whole = parts.sort().every((part, index) => part === String(index).repeat(MEGABYTE));
        tell(`a has ${whole ? parts.join("").length : "something else"}`);
      }),
    ),
};

const MANY = 10_000;

const manyKeys: Case = {
  name: "ten thousand keys in a bundle have each its own state",
  expected: [`${MANY} keys have 1`, `${MANY} keys have 2`],
  make(tell) {
    const wave = keyedWords(...Array.from({ length: MANY }, (_, index): [string, string] => [`key-${index}`, ""]));
    const keys = new Map<number, Set<string>>();
    return keyedPipeline(
      batches("many-words", keyedWord, [
        { values: wave, waitMs: 1000 },
        { values: wave, waitMs: 1000 },
      ]),
      baggedWordsDoFn("many", async (_word, context) => {
        const count = await counted(context);
        const seen = keys.get(count) ?? new Set();
        keys.set(count, seen.add(context.key));
        if (seen.size === MANY) tell(`${MANY} keys have ${count}`);
      }),
    );
  },
};

export const stateCases: readonly Case[] = [value, bag, largeState, manyKeys];

/** Of the key's words, this one among them. */
async function counted(context: BagContext): Promise<number> {
  const memo = context.state("memo");
  const count = ((await memo.get())?.count ?? 0) + 1;
  memo.set({ count });
  return count;
}

function keyedPipeline(source: ReturnType<typeof waves>, doFn: ReturnType<typeof baggedWordsDoFn>): Pipeline {
  return {
    definitions: [source, doFn as AnyKeyedDefinition],
    build: (p) => void p.keyed("Keyed", doFn, {}, p.source("Source", source, {}).out),
  };
}
