import assert from "node:assert/strict";
import { test } from "node:test";
import { systemRandom } from "../../../io/random.ts";
import { memoryTable } from "../../../io/stores/memory-table.ts";
import { metaText, tableMeta } from "../../../pipelines/cloud/meta.ts";
import { StoreError } from "../../../ports/versioned-table.ts";

const random = systemRandom();

test("a text that was never written is none, and comes back as it was changed to", async () => {
  const meta = tableMeta(memoryTable(), random);
  assert.equal(await meta.get("seeds"), undefined);
  assert.equal(await meta.change("seeds", (before) => `${before} é`), "undefined é");
  assert.equal(await meta.get("seeds"), "undefined é");
});

test("of two jobs that raise the epoch at once, each gets one of its own", async () => {
  const table = memoryTable();
  const raise = () => tableMeta(table, random).change("epoch", (before = "0") => String(Number(before) + 1));
  const epochs = await Promise.all(Array.from({ length: 5 }, raise));
  assert.deepEqual(epochs.sort(), ["1", "2", "3", "4", "5"]);
});

test("whoever is always overtaken gives up with a StoreError", async () => {
  const overtaken = { ...memoryTable(), insertIfAbsent: async () => [false] };
  await assert.rejects(
    tableMeta(overtaken, random).change("epoch", () => "1"),
    (error) => error instanceof StoreError && /written by others/.test(error.message),
  );
});

test("a text is told as changed at the first look and after each change, not in between", async () => {
  const meta = tableMeta(memoryTable(), random);
  const orders = metaText(meta, "host-policies");
  assert.deepEqual(await orders.changed(), { text: undefined });
  assert.equal(await orders.changed(), undefined);
  await orders.change(() => "paused");
  assert.deepEqual(await orders.changed(), { text: "paused" });
  assert.equal(await orders.changed(), undefined);
  assert.equal(await orders.read(), "paused");
});
