import assert from "node:assert/strict";
import { test } from "node:test";
import { urlIdentity } from "../../core/url/keys.ts";
import { rowKey } from "../../schemas/row-key.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import { putDue } from "../../transforms/due-index.ts";
import { readOutlook } from "../../transforms/host-outlook.ts";
import { url } from "../core/frontier/given.ts";
import { START, world } from "./world.ts";

async function add(given: ReturnType<typeof world>, canonicalUrl: string, change: Partial<UrlState>): Promise<void> {
  const { urlId } = urlIdentity(canonicalUrl);
  const value = url({ canonicalUrl, nextFetchAt: START, ...change });
  await given.services.tables.urls.insertIfAbsent([{ key: rowKey("a.test", urlId), value }]);
  await putDue(given.services, [{ paceKey: "a.test", urlId, priority: value.priority, dueAt: value.nextFetchAt }]);
}

const outlook = (given: ReturnType<typeof world>) => readOutlook(given.services, given.config, "a.test", START);

test("a host without first fetches and retries is idle, whatever revisits it has", async () => {
  const given = world();
  assert.deepEqual(await outlook(given), { kind: "idle" });
  await add(given, "http://a.test/1", { priority: 2 });
  await add(given, "http://a.test/2", { priority: 3 });
  assert.deepEqual(await outlook(given), { kind: "idle" });
});

test("a pending URL is told with its time and what it waits for", async () => {
  const given = world();
  await add(given, "http://a.test/1", { nextFetchAt: START + 60_000, failureCount: 1 });
  assert.deepEqual(await outlook(given), { kind: "pending", at: START + 60_000, reason: "retry", url: "http://a.test/1" });
  await add(given, "http://a.test/0", { priority: 0 });
  assert.deepEqual(await outlook(given), { kind: "pending", at: START, reason: "turn", url: "http://a.test/0" });
});

test("entries that no record stands behind are not waited for", async () => {
  const given = world();
  await putDue(given.services, [{ paceKey: "a.test", urlId: "none", priority: 1, dueAt: START }]);
  await add(given, "http://a.test/1", { priority: 2 });
  const { urlId } = urlIdentity("http://a.test/1");
  await putDue(given.services, [{ paceKey: "a.test", urlId, priority: 1, dueAt: START - 7 }]);
  assert.deepEqual(await outlook(given), { kind: "idle" });
});

test("a host key whose robots.txt cannot be had does not hide the other's URLs", async () => {
  const given = world();
  const unreachable = { status: "unreachable" as const, fetchedAt: START, expiresAt: START + 300_000 };
  await given.services.tables.robots.insertIfAbsent([{ key: rowKey("a.test", "https://a.test"), value: unreachable }]);
  await add(given, "https://a.test/1", {});
  assert.deepEqual(await outlook(given), {
    kind: "pending",
    at: START + 300_000,
    reason: "robots-unreachable",
    url: "https://a.test/1",
  });
  await add(given, "http://a.test/1", {});
  assert.deepEqual(await outlook(given), { kind: "pending", at: START, reason: "turn", url: "http://a.test/1" });
});
