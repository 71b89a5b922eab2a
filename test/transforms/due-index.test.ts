import assert from "node:assert/strict";
import { test } from "node:test";
import { hostDueKey } from "../../schemas/row-key.ts";
import { dropDue, lowerHostDue, putDue } from "../../transforms/due-index.ts";
import type { CrawlServices } from "../../transforms/services.ts";
import { dueEntries, world } from "./world.ts";

const entry = (urlId: string) => ({ paceKey: "a.test", priority: 1, dueAt: 5, urlId });
const KEY = hostDueKey("a.test", 4);

async function nextDueAt({ tables }: CrawlServices): Promise<number | undefined> {
  const [row] = await tables.hostDue.get([KEY]);
  return row?.value.nextDueAt;
}

test("an entry put twice stands once, one dropped twice is gone", async () => {
  const given = world();
  await putDue(given.services, [entry("x"), entry("y")]);
  await putDue(given.services, [entry("x")]);
  await putDue(given.services, []);
  assert.deepEqual(await dueEntries(given), [entry("x"), entry("y")]);
  const keys = (await given.services.tables.due.scan({ from: "", to: "~", limit: 1 })).map((row) => row.key);
  for (let times = 0; times < 2; times++) await dropDue(given.services, keys);
  assert.deepEqual(await dueEntries(given), [entry("y")]);
});

test("a host's due time only falls", async () => {
  const { services } = world();
  for (const [at, stands] of [
    [50, 50],
    [70, 50],
    [50, 50],
    [20, 20],
  ] as const) {
    await lowerHostDue(services.tables.hostDue, "a.test", 4, at);
    assert.equal(await nextDueAt(services), stands);
  }
});

test("many that lower it at once leave the lowest", async () => {
  const { services } = world();
  await Promise.all([9, 3, 7, 5, 8].map((at) => lowerHostDue(services.tables.hostDue, "a.test", 4, at)));
  assert.equal(await nextDueAt(services), 3);
});

test("one that raises it meanwhile is met: the lower time is written after all", async () => {
  const { services } = world();
  const { hostDue } = services.tables;
  await lowerHostDue(hostDue, "a.test", 4, 50);
  let raced = false;
  const racing: typeof hostDue = {
    ...hostDue,
    async compareAndSet(key, value, rev) {
      if (!raced) {
        raced = true;
        await hostDue.compareAndSet(key, { nextDueAt: 900 }, rev);
      }
      return hostDue.compareAndSet(key, value, rev);
    },
  };
  await lowerHostDue(racing, "a.test", 4, 20);
  assert.equal(await nextDueAt(services), 20);
});

test("a row that others write without end is given up with its name", async () => {
  const { services } = world();
  await lowerHostDue(services.tables.hostDue, "a.test", 4, 50);
  const { hostDue } = services.tables;
  const losing: typeof hostDue = { ...hostDue, compareAndSet: async () => undefined };
  await assert.rejects(lowerHostDue(losing, "a.test", 4, 20), /a\.test/);
});
