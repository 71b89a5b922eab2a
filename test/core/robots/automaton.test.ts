// Does the automaton find every word wherever it ends, and nothing else?
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { automatonOf, stepped } from "../../../core/robots/automaton.ts";

/** `word@end` of all words, longest first at each place. */
function found(words: readonly string[], text: string): string[] {
  const automaton = automatonOf(words);
  const all: string[] = [];
  let node = 0;
  for (let at = 0; at < text.length; at++) {
    node = stepped(automaton, node, text.charCodeAt(at));
    for (let word = automaton.ends[node]!; word > 0; word = automaton.ends[automaton.fails[word]!]!)
      all.push(`${words[automaton.words[word]!]}@${at + 1}`);
  }
  return all;
}

test("words within words are found at each of their ends", () => {
  assert.deepEqual(found(["he", "she", "his", "hers"], "ushers"), ["she@4", "he@4", "hers@6"]);
  assert.deepEqual(found([], "ushers"), []);
});

test("all words are found at all places that a search finds them at", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.uniqueArray(word, { maxLength: 12 }), fc.string({ unit: fc.constantFrom("a", "b", "c") }), (words, text) => {
      const wanted = words.flatMap((each) =>
        Array.from({ length: text.length + 1 }, (_, end) => end)
          .filter((end) => text.slice(0, end).endsWith(each))
          .map((end) => `${each}@${end}`),
      );
      assert.deepEqual(found(words, text).sort(), wanted.sort());
    }),
    { numRuns: 1000 },
  );
});
