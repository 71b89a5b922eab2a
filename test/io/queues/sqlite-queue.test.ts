import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { queueContract } from "../../contracts/queue.ts";
import { makeTestStore, openTestStore, temporaryFolder } from "../stores/opened-store.ts";

// One store for the whole suite, a queue for each of its tests: opening a store costs more than any of them.
const names = Array.from({ length: 40 }, (_, at) => `queue-${at}`);
let suite: Awaited<ReturnType<typeof makeTestStore>>;
before(async () => {
  suite = await makeTestStore(names);
});
after(() => suite.close());

queueContract("SQLite", async () => ({ queue: suite.store.queue(names.pop()!), close: async () => {} }));

test("after a restart all unacknowledged messages come again, pulled or not, and the acknowledged ones do not", async (context) => {
  const folder = await temporaryFolder(context);
  const before = await openTestStore(folder);
  await before.queue("host").publish(["held", "done", "waiting"].map((body) => Buffer.from(body)));
  const [, done] = await before.queue("host").pull(2);
  await before.queue("host").acknowledge([done!.id]);
  await before.close();

  const store = await openTestStore(folder);
  const queue = store.queue("host");
  assert.equal(await queue.depth(), 2);
  assert.deepEqual(
    (await queue.pull(9)).map(({ body }) => Buffer.from(body).toString()),
    ["held", "waiting"],
  );
  await store.close();
});

test("publishes of concurrent callers share commits", async () => {
  const { store, close } = await makeTestStore();
  await Promise.all(Array.from({ length: 200 }, () => store.queue("host").publish([new Uint8Array(10)])));
  assert.equal(await store.queue("host").depth(), 200);
  assert.ok(store.stats().transactions <= 5, `${store.stats().transactions} transactions`);
  await close();
});
