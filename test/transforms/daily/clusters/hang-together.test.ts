import assert from "node:assert/strict";
import { test } from "node:test";
import type { Known } from "../../../../transforms/daily/clusters/elements.ts";
import { nameTogether } from "../../../../transforms/daily/clusters/hang-together.ts";
import { bundle } from "../../contexts.ts";

const hash = (number: number) => String(number).padStart(16, "0");
const link = (to: number): Known => ({ kind: "link", hash: hash(to) });
const document = { urlId: "a", paceKey: "one.example", quality: 1, discoveredAt: 2 };
const documents = (copies: number): Known => ({ kind: "documents", copies, document });

async function named(key: number, known: readonly Known[]) {
  const context = bundle<typeof nameTogether.outputs>();
  const dofn = nameTogether.make({}, undefined);
  await dofn.startBundle?.();
  await dofn.process(
    hash(key),
    (async function* () {
      yield* known;
    })(),
    context,
  );
  await dofn.finishBundle?.(context);
  return context.emitted.map(({ output, value }) => [output, Number(value.key) || value.key, value.value.hash ?? value.value]);
}

const rows: [situation: string, known: Known[], emitted: unknown[]][] = [
  ["no links and one document is nothing", [documents(1)], []],
  ["no links and copies is a cluster alone", [documents(2)], [["alone", 5, hash(5)]]],
  ["a link to a smaller hash is under that", [link(3), documents(1)], [["together", 3, hash(5)]]],
  ["only links to larger ones is under itself", [link(7), documents(1), link(9), link(7)], [["together", 5, hash(5)]]],
  ["one link told twice is settled", [documents(1), link(3), link(3)], [["together", 3, hash(5)]]],
  [
    "links to two smaller ones is under the smaller, and not settled",
    [link(3), documents(1), link(2), link(4)],
    [
      ["together", 2, hash(5)],
      ["counts", "unsettledLinks", 2],
    ],
  ],
  [
    "links to a smaller and to larger ones is not settled",
    [link(8), link(3), documents(1), link(7)],
    [
      ["together", 3, hash(5)],
      ["counts", "unsettledLinks", 1],
    ],
  ],
];
for (const [situation, known, emitted] of rows)
  test(`a hash with ${situation}`, async () => {
    assert.deepEqual(await named(5, known), emitted);
  });
