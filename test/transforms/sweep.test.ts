import assert from "node:assert/strict";
import { test } from "node:test";
import { hostDueKey } from "../../schemas/row-key.ts";
import { sweep } from "../../transforms/sweep.ts";
import { bundle } from "./contexts.ts";
import { START, world } from "./world.ts";

const SHARDS = 4;

async function swept(given: ReturnType<typeof world>, shard: number) {
  const context = bundle<typeof sweep.outputs>();
  await sweep.make({}, given.services).process({ shard }, context);
  return context.emitted.map(({ value }) => value);
}

async function hosts(given: ReturnType<typeof world>, names: string[], nextDueAt: number): Promise<void> {
  await given.services.tables.hostDue.insertIfAbsent(
    names.map((name) => ({ key: hostDueKey(name, SHARDS), value: { nextDueAt } })),
  );
}

test("the shards together wake every overdue host once, and no other", async () => {
  const given = world();
  const overdue = Array.from({ length: 2_500 }, (_, index) => `due${index}.test`);
  await hosts(given, overdue, START);
  await hosts(given, ["later.test"], START + 1);
  const woken: string[] = [];
  for (let shard = 0; shard < SHARDS; shard++)
    for (const { key, value } of await swept(given, shard)) {
      assert.equal(value.paceKey, key);
      assert.ok(value.at >= START && value.at < START + 2_000, "spread over two seconds");
      woken.push(key);
    }
  assert.deepEqual(woken.sort(), overdue.sort());
  assert.equal(given.metrics.total("gleaner_hosts_swept_total"), 2_500);
});

test("a few hosts need not wait", async () => {
  const given = world();
  await hosts(given, ["one.test"], 0);
  const wakes = (await Promise.all([0, 1, 2, 3].map((shard) => swept(given, shard)))).flat();
  assert.deepEqual(
    wakes.map(({ value }) => value.at),
    [START],
  );
});
