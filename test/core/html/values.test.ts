// Are the small grammars of attribute values read as the HTML standard writes them?
import assert from "node:assert/strict";
import { test } from "node:test";
import { collapse, hasToken, languageOf, refreshTarget, withoutFragment } from "../../../core/html/values.ts";

const refreshes: [content: string, target: string | undefined][] = [
  ["5;url=a", "a"],
  ["0; URL = 'a b' ignored", "a b"],
  ['0;url="open', "open"],
  ["0, a", "a"],
  ["0 a", "a"],
  [".5;url=a", "a"],
  ["5.;a", "a"],
  ["5", undefined],
  ["5;", undefined],
  ["5;url=", undefined],
  ["url=a", undefined],
  ["5x;url=a", undefined],
  ["0;urls", "urls"],
];

for (const [content, target] of refreshes)
  test(`refresh '${content}' leads to ${target ?? "nowhere"}`, () => {
    assert.equal(refreshTarget(content), target);
  });

test("a fragment is cut where that cannot change the path", () => {
  const cut = ["a#b", "#b", "a?b#c#d", "a #b", "a"].map(withoutFragment);
  assert.deepEqual(cut, ["a", "", "a?b", "a #b", "a"]);
});

test("a token is found in any case, and only whole", () => {
  assert.deepEqual(
    ["ugc NoFollow", "nofollow\n", "nofollows", "", undefined].map((list) => hasToken(list, "nofollow")),
    [true, true, false, false, false],
  );
});

test("only what can be a language tag is one", () => {
  const tags = [" de ", "zh-Hant-TW", "en_US", "", "x y", "languages-are", "a".repeat(9)].map(languageOf);
  assert.deepEqual(tags, ["de", "zh-Hant-TW", "en_US", undefined, undefined, undefined, undefined]);
});

test("blanks of all kinds become one space", () => {
  assert.equal(collapse(" a\u00a0\n\t b "), "a b");
});
