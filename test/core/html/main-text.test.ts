// Are the blocks that say something told from those that lead elsewhere?
import assert from "node:assert/strict";
import { test } from "node:test";
import { mainText, type TextBlock } from "../../../core/html/main-text.ts";

const plain = { linkShare: 0, heading: false, inMain: false, article: 0 };
const prose = (name: string): TextBlock => ({ ...plain, text: `${name} ${"word ".repeat(30).trim()}` });
const line = (text: string): TextBlock => ({ ...plain, text });

function kept(blocks: TextBlock[]): string[] {
  return mainText(blocks)
    .split("\n")
    .map((text) => text.split(" ")[0] ?? "");
}

const rows: [situation: string, blocks: TextBlock[], names: string[]][] = [
  ["no block gives no text", [], [""]],
  ["prose stays", [prose("a"), prose("b")], ["a", "b"]],
  ["half a block of links is still text", [{ ...prose("a"), linkShare: 0.5 }, prose("b")], ["a", "b"]],
  ["more than half is a menu", [{ ...prose("a"), linkShare: 0.51 }, prose("b")], ["b"]],
  [
    "a line stays only beside prose",
    [line("far"), line("near"), prose("a"), line("next"), line("gone")],
    ["near", "a", "next"],
  ],
  [
    "headings stay above what stays",
    [{ ...line("h1"), heading: true }, { ...line("h2"), heading: true }, line("near"), prose("a")],
    ["h1", "h2", "near", "a"],
  ],
  ["a heading of nothing goes", [prose("a"), line("x"), { ...line("h"), heading: true }], ["a", "x"]],
  ["main stands for the page", [prose("a"), { ...prose("b"), inMain: true }], ["b"]],
  [
    "a main with little of the text does not",
    [prose("a"), prose("b"), prose("c"), { ...line("m"), inMain: true }],
    ["a", "b", "c", "m"],
  ],
  [
    "the longest article in main",
    [
      { ...prose("a"), inMain: true, article: 1 },
      { ...prose("b"), inMain: true, article: 2 },
      { ...prose("c"), inMain: true, article: 2 },
    ],
    ["b", "c"],
  ],
  [
    "one of many short articles is not the page",
    ["a", "b", "c", "d", "e"].map((name, at) => ({ ...prose(name), article: at + 1 })),
    ["a", "b", "c", "d", "e"],
  ],
  ["without prose every line counts", [line("one"), line("two")], ["one", "two"]],
];

for (const [situation, blocks, names] of rows)
  test(situation, () => {
    assert.deepEqual(kept(blocks), names);
  });
