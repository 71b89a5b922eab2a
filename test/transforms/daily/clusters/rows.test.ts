import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClusterDocument } from "../../../../schemas/daily/clusters.ts";
import type { Member, Told } from "../../../../transforms/daily/clusters/elements.ts";
import { clusterSize, copyRows, hashRows } from "../../../../transforms/daily/clusters/rows.ts";
import { bundle } from "../../contexts.ts";

const [ID, NEAR] = ["00000000000000aa", "00000000000000ab"];
const document = (urlId: string): ClusterDocument => ({ urlId, paceKey: "one.example", quality: 50, discoveredAt: 1 });
const member = (hash: string, copies: number, distance: number): Member => ({
  ...{ kind: "row", hash, copies, distance, representative: "best" },
  document: document(distance === 0 ? "best" : "near"),
});

async function* each<T>(values: readonly T[]) {
  yield* values;
}

async function hashRowsOf(values: readonly Member[]) {
  const context = bundle<typeof hashRows.outputs>();
  const dofn = hashRows.make({}, undefined);
  await dofn.process(ID, each(values), context);
  await dofn.finishBundle?.(context);
  const of = (output: string) => context.emitted.filter((one) => one.output === output).map(({ value }) => value);
  return { rows: of("rows"), told: of("told"), counts: Object.fromEntries(of("counts").map(({ key, value }) => [key, value])) };
}

test("a cluster's size is that of its hashes' documents", () => {
  const { create, add, merge } = clusterSize;
  const one = add(add(create(), member(ID, 3, 0)), member(NEAR, 1, 1));
  assert.deepEqual(merge(one, add(create(), member(NEAR, 2, 1))), { kind: "fact", size: 6 });
});

test("a hash's document has its row, and copies are to be told", async () => {
  const { rows, told, counts } = await hashRowsOf([member(NEAR, 1, 1), { kind: "fact", size: 4 }, member(ID, 3, 0)]);
  assert.deepEqual(
    rows.map(({ key, value: { urlId, role, exactCopies, size } }) => [key.slice(3), urlId, role, exactCopies, size]),
    [
      ["one.example/near", "near", "near", 1, 4],
      ["one.example/best", "best", "representative", 3, 4],
    ],
  );
  const fact = { clusterId: ID, representative: "best", size: 4, exactCopies: 3, distance: 0 };
  assert.deepEqual(told, [{ key: ID, value: { kind: "fact", ...fact } }]);
  assert.deepEqual(counts, { nearDuplicates: 1, representatives: 1, clusters: 1 });
});

test("a cluster of one document has no row", async () => {
  assert.deepEqual(await hashRowsOf([member(ID, 1, 0), { kind: "fact", size: 1 }]), { rows: [], told: [], counts: {} });
});

const copies: [situation: string, distance: number, role: string][] = [
  ["its cluster's representative", 0, "copy"],
  ["a near-duplicate", 2, "near"],
];
for (const [situation, distance, role] of copies)
  test(`a copy of ${situation} is told ${role}`, async () => {
    const fact: Told = { kind: "fact", clusterId: ID, representative: "best", size: 4, exactCopies: 2, distance };
    const context = bundle<typeof copyRows.outputs>();
    const dofn = copyRows.make({}, undefined);
    await dofn.process(NEAR, each<Told>([{ kind: "row", ...document("other") }, fact]), context);
    const [row] = context.emitted.map(({ value }) => value.value);
    const told = { clusterId: ID, representative: "best", size: 4, exactCopies: 2, distance };
    assert.deepEqual(row, { ...told, urlId: "other", paceKey: "one.example", simHash: NEAR, role });
  });
