// Is every wish not to be indexed or followed heard, when it is meant for us?
import assert from "node:assert/strict";
import { test } from "node:test";
import { metaDirectives, robotsDirectives } from "../../../core/http/robots-tag.ts";

const rows: [values: string[], noindex: boolean, nofollow: boolean][] = [
  [[], false, false],
  [["noindex"], true, false],
  [["NOINDEX , NoFollow"], true, true],
  [["none"], true, true],
  [["all"], false, false],
  [["noindex", "nofollow"], true, true],
  [["ourbot: noindex"], true, false],
  [["OurBot: nofollow, noindex"], true, true],
  [["otherbot: noindex, nofollow"], false, false],
  [["otherbot: noindex", "nofollow"], false, true],
  [["otherbot: noindex, ourbot: nofollow"], false, true],
  [["nofollow, otherbot: noindex"], false, true],
  [["*: noindex"], true, false],
  [["unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"], true, false],
  [["max-snippet: 20, nofollow"], false, true],
  [["ourbots: noindex"], false, false],
  [["", ",,,:", "noindexed"], false, false],
];

for (const [values, noindex, nofollow] of rows)
  test(`X-Robots-Tag ${JSON.stringify(values)}`, () => {
    assert.deepEqual(robotsDirectives(values, "OurBot"), { noindex, nofollow });
  });

test("a meta element's words may stand between commas or blanks", () => {
  assert.deepEqual(metaDirectives("index, NOFOLLOW"), { noindex: false, nofollow: true });
  assert.deepEqual(metaDirectives("noindex nofollow"), { noindex: true, nofollow: true });
});
