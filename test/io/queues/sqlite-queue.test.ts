import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { unsealed } from "../../../io/stores/seal.ts";
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

test("what is set aside stays in the file for people, and after a restart, too", async (context) => {
  const folder = await temporaryFolder(context);
  const store = await openTestStore(folder);
  const queue = store.queue("host");
  await queue.publish(["poison", "sound"].map((body) => Buffer.from(body)));
  const [poison] = await queue.pull(1);
  await queue.setAside([poison!.id]);
  await store.close();
  await (await openTestStore(folder)).close();
  const database = new DatabaseSync(join(folder, "state.sqlite"), { readOnly: true });
  const kept = database.prepare("SELECT id, body FROM aside_host").all() as { id: number; body: Uint8Array }[];
  database.close();
  assert.deepEqual(
    kept.map(({ id, body }) => [String(id), Buffer.from(unsealed(body)!).toString()]),
    [[poison!.id, "poison"]],
  );
});
