import assert from "node:assert/strict";
import { test } from "node:test";
import { hashOf } from "../../../core/clusters/bands.ts";
import { CROWD_LEVELS, leadersOf, partOfCrowd } from "../../../core/clusters/leaders.ts";
import { REACH_BITS } from "../../../core/clusters/membership.ts";
import { addHash, newHashList } from "../../../core/clusters/near-groups.ts";
import { distance, sets, words } from "./brute-force.ts";

for (const [name, make] of sets)
  test(`${name}: everybody is led by the first leader within reach, and no two leaders are within reach of each other`, () => {
    const hashes = make(words(17));
    const list = newHashList();
    for (const hash of hashes) addHash(list, hash);
    const leaders = leadersOf(list);
    const leading = [...leaders.keys()].filter((place) => leaders[place] === place);
    const reaches = (leader: number, place: number) => distance(hashes[leader]!, hashes[place]!) <= REACH_BITS;
    for (const [place, leader] of leaders.entries())
      assert.equal(
        leader,
        leading.find((one) => reaches(one, place)),
      );
    for (const one of leading) assert.ok(!leading.some((other) => other !== one && reaches(one, other)));
  });

test("nobody is led where nobody is", () => {
  assert.deepEqual([...leadersOf(newHashList())], []);
});

test("each level parts a crowd further, until no two hashes are together", () => {
  const hash = hashOf({ high: 0x01234567, low: 0x89abcdef });
  const parts = Array.from({ length: CROWD_LEVELS }, (_, level) => partOfCrowd(hash, level + 1));
  for (const [level, part] of parts.entries()) assert.ok(part.startsWith(parts[level - 1] ?? "") && part !== parts[level - 1]);
  assert.equal(parts.at(-1), hash);
});
