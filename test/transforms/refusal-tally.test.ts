import assert from "node:assert/strict";
import { test } from "node:test";
import { RefusalTally } from "../../transforms/refusal-tally.ts";

test("one event for each host, reason and source, with the count of all and the first three", () => {
  const tally = new RefusalTally();
  for (const path of ["1", "2", "3", "4"]) tally.add("http://a.test", "scope", `http://a.test/${path}`, "link");
  tally.add("http://a.test", "depth", "http://a.test/5", "link");
  tally.add("http://a.test", "scope", "http://a.test/6", "redirect");
  tally.add("", "malformed", "::", "seed");
  assert.deepEqual(
    tally
      .events(9)
      .map(({ at, hostKey, reason, source, count, samples }) => [at, hostKey, reason, source, count, samples.length]),
    [
      [9, "http://a.test", "scope", "link", 4, 3],
      [9, "http://a.test", "depth", "link", 1, 1],
      [9, "http://a.test", "scope", "redirect", 1, 1],
      [9, "", "malformed", "seed", 1, 1],
    ],
  );
});
