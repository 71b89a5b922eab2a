// Does an element end where the standard says that its end tag may be left out, and nowhere else?
import assert from "node:assert/strict";
import { test } from "node:test";
import { endsBefore, isVoid } from "../../../core/html/implied-ends.ts";

const rows: [current: string, enders: string, others: string][] = [
  ["p", "p div h1 ul table li dd td hr", "b a span br img input script"],
  ["li", "li", "p ul ol div dt"],
  ["dt", "dt dd", "dl p li"],
  ["dd", "dt dd", "dl p li"],
  ["td", "td th tr tbody", "table p caption"],
  ["th", "td th tr tfoot", "table p caption"],
  ["tr", "tr tbody thead", "td th table"],
  ["thead", "tbody tfoot", "tr td"],
  ["tbody", "tbody tfoot", "tr td"],
  ["caption", "tr td tbody colgroup", "p table"],
  ["rt", "rt rp", "ruby b"],
  ["head", "body p div a section", "meta link title script style noscript template"],
  ["div", "", "div p li td body"],
  ["constructor", "", "constructor p"],
];

for (const [current, enders, others] of rows)
  test(`${current} ends before [${enders}], not before [${others}]`, () => {
    const ends = (names: string) => names.split(" ").filter((name) => name !== "" && endsBefore(current, name));
    assert.equal(ends(enders).join(" "), enders);
    assert.deepEqual(ends(others), []);
  });

test("nothing stands inside br, img and their like, nor is constructor among them", () => {
  const names = "br img hr input meta wbr p script iframe constructor".split(" ");
  assert.deepEqual(names.filter(isVoid), "br img hr input meta wbr".split(" "));
});
