// Is every field case of the list a test, and is it one alone?
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { SHARED_DATA } from "../lib.ts";

const LIST = join(SHARED_DATA, "../cases/README.md");

test("each id of the list is the id of one test", (t) => {
  if (!existsSync(LIST)) {
    assert.ok(!process.env.CI, `${LIST} is not there, and CI is set`);
    return t.skip(`${LIST} is not there`);
  }
  const listed = [...readFileSync(LIST, "utf8").matchAll(/^\| ([A-Z]\d+) \|/gm)].map((found) => found[1]!);
  const tests = globSync("*.test.ts", { cwd: import.meta.dirname }).flatMap((file) =>
    [...readFileSync(join(import.meta.dirname, file), "utf8").matchAll(/^ +id: "([A-Z]\d+)",$/gm)].map((found) => found[1]!),
  );
  assert.ok(listed.length > 0);
  assert.deepEqual(tests.toSorted(), listed.toSorted());
});
