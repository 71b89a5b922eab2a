// Have the tests teeth? Every listed break must make a test fail; one that no longer applies is an error.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Break, copyOfTree, patched, verdictOn } from "./apply.ts";
import { breaks } from "./list.ts";

const copy = copyOfTree();
after(() => copy.remove());

for (const each of breaks) {
  test(`a test notices: ${each.name}`, async () => {
    assert.equal(await verdictOn(each, copy.folder), "noticed");
  });
}

test("a break whose text is gone, or stands twice, is an error", () => {
  const each: Break = { name: "x", file: "f.ts", find: "b", replace: "c", test: "t" };
  assert.equal(patched("abd", each), "acd");
  assert.throws(() => patched("ad", each), /stands 0 times/);
  assert.throws(() => patched("abbd", each), /stands 2 times/);
});
