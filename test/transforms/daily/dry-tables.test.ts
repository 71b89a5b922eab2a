import assert from "node:assert/strict";
import { test } from "node:test";
import { rowKey } from "../../../schemas/row-key.ts";
import { dryTables } from "../../../transforms/daily/dry-tables.ts";
import { givenCrawl, placeOf } from "./given.ts";

const URL = "http://a.test/1";

test("records and due entries are read as they are; writes say that they were done, and nothing has changed", async (context) => {
  const crawl = await givenCrawl(context);
  await crawl.put({ url: URL });
  const before = [await crawl.record(URL), await crawl.due()];
  const { urls, due } = dryTables(crawl.services.tables);
  const { paceKey, urlId } = placeOf(URL);
  const key = rowKey(paceKey, urlId);
  const [row] = await urls.get([key]);
  assert.deepEqual(row?.value, before[0]);
  assert.notEqual(await urls.compareAndSet(key, { ...row!.value, priority: 0 }, "another rev"), undefined);
  assert.deepEqual(await urls.insertIfAbsent([{ key, value: row!.value }]), [true]);
  assert.deepEqual(await urls.delete([{ key }]), [true]);
  const [entry] = await due.scan({ from: "", to: "~", limit: 1 });
  await due.drop([entry!.key]);
  await due.put([{ ...entry!, key: `${entry!.key}0` }]);
  assert.deepEqual(await due.delete([{ key: entry!.key }]), [true]);
  assert.equal(await due.compareAndSet(entry!, "another rev"), true);
  assert.deepEqual([await crawl.record(URL), await crawl.due()], before);
});
