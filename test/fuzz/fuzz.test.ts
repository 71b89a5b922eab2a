// Does every parser stand whatever it is given, for a short while at least? npm run fuzz goes on for as long as asked.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fuzzed } from "./fuzz.ts";
import { parsers } from "./registry.ts";

/** For each parser; where CI is set ten seconds, else ten in all. */
const MS = process.env.CI ? 10_000 : 500;

const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

for (const parser of parsers)
  test(`fuzz: ${parser.name}`, async (t) => {
    const count = await parser.run({ seed, ms: MS });
    t.diagnostic(`${parser.name}: ${count} inputs from seed ${seed}`);
    assert.ok(count > 0);
  });

test("names are unique, so that --parser means one", () => {
  assert.equal(new Set(parsers.map(({ name }) => name)).size, parsers.length);
});

const shout = fuzzed("shout", fc.string(), (text) => assert.ok(!text.includes("a")));

test("a parser that fails is found, with the seed and path that replay it", async () => {
  const failure = await shout.run({ seed: 1, ms: 10_000 }).then(
    () => "",
    (error: Error) => error.message,
  );
  const [, path] = /path: "([\d:]+)"/.exec(failure) ?? [];
  assert.ok(path !== undefined && failure.includes('["a"]'), failure);
  await assert.rejects(shout.run({ seed: 1, ms: 10_000, path }), /Property failed/);
});
