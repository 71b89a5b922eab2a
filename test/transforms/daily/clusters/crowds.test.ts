// What becomes of keys that hold more than is looked at together? They are parted, and nothing is lost that the rules promise.
import assert from "node:assert/strict";
import { test } from "node:test";
import { bandKey, type Halves, hashOf, NEAR_BITS, TABLES } from "../../../../core/clusters/bands.ts";
import { CROWD_LEVELS } from "../../../../core/clusters/leaders.ts";
import { addHash, newHashList, packed } from "../../../../core/clusters/near-groups.ts";
import { leadInOrder } from "../../../../transforms/daily/clusters/elections.ts";
import type { Banded, Candidate } from "../../../../transforms/daily/clusters/elements.ts";
import { linkBands, linkNarrow } from "../../../../transforms/daily/clusters/near-links.ts";
import { components, nearPairs, sets, words } from "../../../core/clusters/brute-force.ts";
import { bundle } from "../../contexts.ts";

async function* each<T>(values: readonly T[]) {
  yield* values;
}

function pack(hashes: readonly Halves[]): Banded {
  const list = newHashList();
  for (const hash of hashes) addHash(list, hash);
  return { hashes: packed(list) };
}

interface Given<V> {
  key: string;
  value: V;
}

function grouped<V>(given: readonly Given<V>[]): [key: string, values: V[]][] {
  const groups = Map.groupBy(given, ({ key }) => key);
  return [...groups].map(([key, all]) => [key, all.map(({ value }) => value)]);
}

for (const [name, make] of sets)
  test(`${name}: hashes of crowded keys are linked as all pairs link them`, async () => {
    const hashes = make(words(31)).slice(0, 40);
    const context = bundle();
    const dofn = linkBands(2).make({}, undefined);
    const banded = hashes.flatMap((hash) =>
      Array.from({ length: TABLES }, (_, table) => ({ key: bandKey(hash, table, 4), value: pack([hash]) })),
    );
    for (const [key, values] of grouped(banded)) await dofn.process(key, each(values), context as never);
    const crowded = context.emitted.filter(({ output }) => output === "crowded").map(({ value }): Given<Banded> => value);
    const narrow = linkNarrow.make({}, undefined);
    for (const [key, values] of grouped(crowded)) await narrow.process(key, each(values), context as never);
    const places = new Map(hashes.map((hash, place) => [hashOf(hash), place]));
    const links = context.emitted
      .filter(({ output }) => output === "links")
      .map(({ value }): [number, number] => [places.get(value.key)!, places.get(value.value.hash)!]);
    assert.deepEqual(components(hashes.length, links), components(hashes.length, nearPairs(hashes, NEAR_BITS)));
  });

test("a key with more hashes than are compared at once is counted once", async () => {
  const context = bundle<ReturnType<typeof linkBands>["outputs"]>();
  const few = Array.from({ length: 8 }, (_, low) => ({ high: 0, low: low << 13 }));
  const dofn = linkBands(3).make({}, undefined);
  await dofn.startBundle?.();
  await dofn.process("0", each([pack(few.slice(0, 3)), pack(few.slice(3))]), context);
  await dofn.finishBundle?.(context);
  assert.deepEqual(context.emitted.at(-1), { output: "counts", value: { key: "crowdedKeys", value: 1 } });
});

test("a crowd beyond reach is parted until it fits, and everybody is led once, within reach", async () => {
  const hashes = sets
    .find(([name]) => name.startsWith("a chain"))![1](words(5))
    .slice(0, 500)
    .map(hashOf);
  const row = (hash: string, at: number): Candidate => ({
    ...{ kind: "row", hash, copies: 1 },
    document: { urlId: String(at).padStart(4, "0"), paceKey: "one.example", quality: 5, discoveredAt: 1 },
  });
  let left = hashes.map((hash, at): Given<Candidate> => ({ key: "0".repeat(16), value: row(hash, at) }));
  const told: string[] = [];
  for (let level = 0; level <= CROWD_LEVELS; level++) {
    const context = bundle<ReturnType<typeof leadInOrder>["outputs"]>();
    const dofn = leadInOrder(20).make({ level }, undefined);
    for (const [key, values] of grouped(left)) await dofn.process(key, each(values), context);
    await dofn.finishBundle?.(context);
    left = context.emitted.filter(({ output }) => output === "crowd").map(({ value }) => value);
    const counted = context.emitted.find(({ output }) => output === "counts")?.value;
    assert.deepEqual(counted, level === 0 ? { key: "partedHashes", value: hashes.length } : undefined);
    for (const { output, value } of context.emitted) {
      if (output !== "members") continue;
      told.push(value.value.hash);
      assert.ok(value.value.distance <= 6);
    }
  }
  assert.equal(left.length, 0);
  assert.deepEqual(told.sort(), hashes.toSorted());
});
