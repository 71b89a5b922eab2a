import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ClusterDocument } from "../../../../schemas/daily/clusters.ts";
import { leaveOutEmpty, sameHash } from "../../../../transforms/daily/clusters/same-hash.ts";
import { bundle } from "../../contexts.ts";

const KEY = "00000000000000aa";

function document(number: number, discoveredAt: number): ClusterDocument {
  return { urlId: String(number), paceKey: "one.example", quality: 50, discoveredAt };
}

async function same(documents: readonly ClusterDocument[]) {
  const context = bundle<typeof sameHash.outputs>();
  const dofn = sameHash.make({}, undefined);
  await dofn.process(
    KEY,
    (async function* () {
      yield* documents;
    })(),
    context,
  );
  const of = (output: string) => context.emitted.filter((one) => one.output === output).map(({ value }) => value);
  return { hashes: of("hashes"), others: of("others") };
}

test("law: one document represents the hash, all others wait to be told, in whatever order they come", async () => {
  const ages = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(ages, async (discovered) => {
      const documents = discovered.map((at, number) => document(number + 10, at));
      const { hashes, others } = await same(documents);
      const oldest = Math.min(...discovered);
      const best = documents.find(({ discoveredAt }) => discoveredAt === oldest)!;
      assert.deepEqual(hashes, [{ key: KEY, value: { kind: "documents", copies: documents.length, document: best } }]);
      const waiting = others.map(({ value: { kind, ...one } }) => one as ClusterDocument);
      const byId = (one: ClusterDocument, other: ClusterDocument) => Number(one.urlId) - Number(other.urlId);
      assert.deepEqual([...waiting, best].sort(byId), documents);
      assert.deepEqual((await same(documents.toReversed())).hashes, hashes);
    }),
  );
});

const kept: [hash: string, isKept: boolean][] = [
  [KEY, true],
  ["0000000000000000", false],
  ["00000000000000AA", false],
  ["", false],
];
for (const [hash, isKept] of kept)
  test(`a document of the hash '${hash}' is ${isKept ? "compared" : "left out"}`, async () => {
    const context = bundle<typeof leaveOutEmpty.outputs>();
    const dofn = leaveOutEmpty.make({}, undefined);
    await dofn.process({ key: hash, value: document(1, 1) }, context);
    await dofn.finishBundle?.(context);
    const counted = context.emitted.filter(({ output }) => output === "counts").map(({ value }) => value.key);
    assert.deepEqual(counted, isKept ? ["documents"] : ["documents", "withoutText"]);
    assert.equal(
      context.emitted.some(({ output }) => output === "documents"),
      isKept,
    );
  });
