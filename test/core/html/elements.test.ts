// Are the facts of an element those that reading a page rests on?
import assert from "node:assert/strict";
import { test } from "node:test";
import { elementFacts, isForeign } from "../../../core/html/elements.ts";

const rows: [name: string, inline: boolean, inert: boolean, reads: string[]][] = [
  ["a", true, false, ["href", "rel"]],
  ["div", false, false, []],
  ["script", false, true, []],
  ["template", false, true, []],
  ["noscript", false, false, []],
  ["base", false, false, ["href"]],
  ["constructor", false, false, []],
];

for (const [name, inline, inert, reads] of rows)
  test(`${name} is ${inline ? "" : "not "}inline, ${inert ? "" : "not "}inert, and [${reads}] are read`, () => {
    assert.deepEqual(elementFacts(name), { inline, inert, attributes: reads });
  });

test("svg and math are foreign", () => {
  assert.deepEqual(["svg", "math", "html"].map(isForeign), [true, true, false]);
});
