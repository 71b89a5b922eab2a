import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { elect, represents } from "../../../core/clusters/representative.ts";
import type { ClusterDocument, Elected } from "../../../schemas/daily/clusters.ts";

const usual: ClusterDocument = { urlId: "b", paceKey: "one.example", quality: 50, discoveredAt: 1_000 };

const rows: [situation: string, winner: Partial<ClusterDocument>, loser: Partial<ClusterDocument>][] = [
  ["the better one, though it is younger", { quality: 60, discoveredAt: 2_000 }, {}],
  ["the older one of like quality, though it is a little worse", { quality: 50, discoveredAt: 999 }, { quality: 59 }],
  ["the lesser URL id of like quality and age", { urlId: "a" }, {}],
];
for (const [situation, winner, loser] of rows)
  test(`representative is ${situation}`, () => {
    const [one, other] = [
      { ...usual, ...winner },
      { ...usual, ...loser },
    ];
    assert.equal(represents(one, other), true);
    assert.equal(represents(other, one), false);
  });

const document = fc.record({
  urlId: fc.stringMatching(/^[a-c]{1,2}$/),
  paceKey: fc.constant("one.example"),
  quality: fc.integer({ min: 0, max: 100 }),
  discoveredAt: fc.integer({ min: 0, max: 3 }),
});
const documents = fc.uniqueArray(document, { minLength: 1, maxLength: 12, selector: ({ urlId }) => urlId });

test("law: of two documents exactly one represents both, and the order of all is one line", () => {
  fc.assert(
    fc.property(documents, (all) => {
      for (const one of all)
        for (const other of all) {
          if (one !== other) assert.notEqual(represents(one, other), represents(other, one));
          for (const third of all) if (represents(one, other) && represents(other, third)) assert.ok(represents(one, third));
        }
    }),
  );
});

test("law: whoever is elected is the same in any order and any grouping", () => {
  fc.assert(
    fc.property(documents, fc.nat(), (all, cut) => {
      const votes = all.map((each): Elected => ({ hash: "00000000000000aa", document: each }));
      const at = cut % (votes.length + 1);
      const fold = (some: readonly Elected[]) => some.reduce<Elected | undefined>(elect, undefined);
      const winner = fold(votes);
      assert.deepEqual(fold(votes.toReversed()), winner);
      assert.deepEqual(elect(fold(votes.slice(0, at)), fold(votes.slice(at))), winner);
      assert.ok(votes.every((vote) => vote === winner || represents(winner!.document, vote.document)));
    }),
  );
});
