// Who shares a commit with whom?
import assert from "node:assert/strict";
import { test } from "node:test";
import { groupCommit } from "../../../io/objects/group-commit.ts";

function recorded(batchBytes: number) {
  const batches: number[][] = [];
  let underWay = 0;
  const group = groupCommit<number, number>({
    async commit(batch) {
      assert.equal(++underWay, 1, "two commits at a time");
      batches.push([...batch]);
      await Promise.resolve();
      underWay--;
      if (batch.includes(13)) throw new Error("13");
      return batch.map((item) => item * 2);
    },
    bytesOf: (item) => item,
    batchBytes,
  });
  return { group, batches };
}

test("items of one go share a batch, and each gets its own result", async () => {
  const { group, batches } = recorded(100);
  assert.deepEqual(await Promise.all([1, 2, 3].map((item) => group.submit(item))), [2, 4, 6]);
  assert.deepEqual(batches, [[1, 2, 3]]);
});

test("a batch is closed when it is full; an item larger than a batch is one", async () => {
  const { group, batches } = recorded(10);
  await Promise.all([4, 7, 1, 99, 2].map((item) => group.submit(item)));
  assert.deepEqual(batches, [[4, 7], [1, 99], [2]]);
});

test("a commit that fails rejects its own batch and no other", async () => {
  const { group } = recorded(10);
  const results = await Promise.allSettled([13, 1, 2].map((item) => group.submit(item)));
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "fulfilled", "fulfilled"],
  );
});

test("what runs between commits runs alone, failing or not; drained waits for all batches", async () => {
  const { group, batches } = recorded(1);
  const items = [1, 2, 3].map((item) => group.submit(item));
  const seen: number[] = [];
  const failed = assert.rejects(group.between(() => Promise.reject(new Error("no"))));
  await group.between(async () => void seen.push(batches.length));
  await group.drained();
  assert.equal(batches.length, 3);
  assert.equal(seen.length, 1);
  await Promise.all([...items, failed]);
});
