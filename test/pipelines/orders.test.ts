import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { UsageError } from "../../pipelines/options.ts";
import { ordersIn } from "../../pipelines/orders.ts";

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "gleaner-orders-"));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const paused = (host: string) => ({ host, paused: true, agreed: false });

test("a change is seen once by who looks for changes, with the next version", () =>
  inFolder(async (folder) => {
    const [reader, writer] = [ordersIn(folder), ordersIn(folder)];
    assert.deepEqual(await reader.changed(), { version: 0, hosts: [] });
    assert.equal(await reader.changed(), undefined);
    await writer.change(() => [paused("a.test")]);
    assert.deepEqual(await reader.changed(), { version: 1, hosts: [paused("a.test")] });
    assert.equal(await reader.changed(), undefined);
    await writer.change(({ hosts }) => [...hosts, paused("b.test")]);
    assert.equal((await reader.changed())?.version, 2);
    assert.deepEqual(await reader.read(), await writer.read());
  }));

test("of changes made at one time none is lost", () =>
  inFolder(async (folder) => {
    const names = Array.from({ length: 8 }, (_, index) => `h${index}.test`);
    await Promise.all(names.map((name) => ordersIn(folder).change(({ hosts }) => [...hosts, paused(name)])));
    const { version, hosts } = await ordersIn(folder).read();
    assert.deepEqual([version, hosts.map(({ host }) => host).sort()], [8, names]);
  }));

test("what a crawl could not read is not written; a file that somebody spoiled is told by its path", () =>
  inFolder(async (folder) => {
    const orders = ordersIn(folder);
    await orders.change(() => [paused("a.test")]);
    const before = readFileSync(join(folder, "host-policies.json"), "utf8");
    await assert.rejects(
      orders.change(() => [{ host: "a.test", delayMs: 5, agreed: false }]),
      UsageError,
    );
    assert.equal(readFileSync(join(folder, "host-policies.json"), "utf8"), before);
    writeFileSync(join(folder, "host-policies.json"), '{"version": 0}');
    await assert.rejects(orders.read(), /host-policies\.json: "version" must be/);
  }));
