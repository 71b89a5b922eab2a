// Are near-duplicates near, and others not?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { hammingDistance, simHash } from "../../../core/content/simhash.ts";

const NEAR = 3; // bits; what the daily pipeline calls a near-duplicate

const rows: [situation: string, a: string, b: string][] = [
  ["the order of words", "one two three", "three one two"],
  ["letter case and punctuation", "One, two: THREE!", "one two three"],
  ["runs of blanks", "one  two\n\tthree", "one two three"],
];

for (const [situation, a, b] of rows)
  test(`${situation} does not matter`, () => {
    assert.equal(simHash(a), simHash(b));
  });

test("a text without words is all zeros", () => {
  assert.equal(simHash(" -- , \n"), "0000000000000000");
});

test("characters of scripts without spaces are words", () => {
  assert.notEqual(simHash("漢字"), simHash("漢語"));
  assert.equal(simHash("漢字"), simHash("字漢"));
});

test("a word's share of the votes ends at its third occurrence", () => {
  const rest = "a b c d e f g h i j k l m n";
  assert.equal(simHash(`${rest} menu menu menu`), simHash(`${rest} ${"menu ".repeat(500)}`));
});

test("occurrences are counted across the growth of the table", () => {
  const others = Array.from({ length: 5 }, (_, index) => `w${index} `.repeat(3)).join("");
  const many = Array.from({ length: 2000 }, (_, index) => `x${index}`).join(" ");
  assert.equal(simHash(`${others}${many} ${others.repeat(50)}`), simHash(`${others}${many}`));
});

test("law: the hash is what counting all bits of all words by hand gives", () => {
  // One word's hash is the pattern of its own votes, so the majority over single words must give the whole.
  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  fc.assert(
    fc.property(fc.uniqueArray(word, { minLength: 1, maxLength: 60 }), (words) => {
      const votes = words.map((one) => BigInt(`0x${simHash(one)}`));
      let expected = 0n;
      for (let bit = 0n; bit < 64n; bit++) {
        const count = votes.filter((vote) => (vote >> bit) & 1n).length;
        if (2 * count > words.length) expected |= 1n << bit;
      }
      assert.equal(simHash(words.join(" ")), expected.toString(16).padStart(16, "0"));
    }),
  );
});

test("law: the distance counts the bits that differ", () => {
  const hash = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
  fc.assert(
    fc.property(hash, hash, (a, b) => {
      const [one, other] = [a, b].map((value) => value.toString(16).padStart(16, "0")) as [string, string];
      assert.equal(hammingDistance(one, other), (a ^ b).toString(2).replaceAll("0", "").length);
    }),
  );
});

test("a text of more words than the table first holds keeps all of them", () => {
  const words = Array.from({ length: 5000 }, (_, index) => `word${index}`);
  assert.equal(simHash(words.join(" ")), simHash(words.toReversed().join(" ")));
  assert.ok(hammingDistance(simHash(words.join(" ")), simHash(words.slice(0, 512).join(" "))) > NEAR);
});
