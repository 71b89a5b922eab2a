import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { groupsOfSmall } from "../../../core/partitions/small-files.ts";

const file = (path: string, bytes: number) => ({ path, bytes });

test("small neighbours become one, large files stay alone, and no joined file is larger than it should be", () => {
  const files = [file("c", 30), file("a", 40), file("b", 50), file("d", 30), file("e", 200), file("f", 45)];
  assert.deepEqual(groupsOfSmall(files, 100), [["a", "c", "d"], ["b"], ["e"], ["f"]]);
  assert.deepEqual(groupsOfSmall([file("a", 10), file("b", 60), file("c", 10)], 100), [["a", "c"], ["b"]]);
  assert.deepEqual(groupsOfSmall([], 100), []);
});

test("each file is in one group, and two neighbouring groups of small files would be too large together", () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 70 }), { maxLength: 40 });
  fc.assert(
    fc.property(sizes, (bytes) => {
      const files = bytes.map((size, at) => file(String(at).padStart(2, "0"), size));
      const sizeOf = new Map(files.map(({ path, bytes }) => [path, bytes]));
      const groups = groupsOfSmall(files, 100);
      assert.deepEqual(groups.flat().toSorted(), [...sizeOf.keys()]);
      const sum = (group: readonly string[]) => group.reduce((total, path) => total + sizeOf.get(path)!, 0);
      for (const group of groups) if (group.length > 1) assert.ok(sum(group) <= 100);
      const small = groups.filter(([first]) => sizeOf.get(first!)! < 50);
      for (const [at, group] of small.entries()) if (at > 0) assert.ok(sum(small[at - 1]!) + sizeOf.get(group[0]!)! > 100);
    }),
  );
});
