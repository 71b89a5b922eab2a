import assert from "node:assert/strict";
import { test } from "node:test";
import { dueKey, rowKey } from "../../../schemas/row-key.ts";
import type { UrlState } from "../../../schemas/url-state.ts";
import { reschedule } from "../../../transforms/daily/reschedule.ts";
import { AS_OF, DAY_MS, type GivenUrl, givenCrawl, placeOf } from "./given.ts";

const URL = "http://a.test/";
const place = placeOf(URL);
const key = rowKey(place.paceKey, place.urlId);

async function given(context: Parameters<typeof givenCrawl>[0], changes: Partial<GivenUrl> = {}) {
  const crawl = await givenCrawl(context);
  await crawl.put({ url: URL, ...changes });
  const [row] = await crawl.services.tables.urls.get([key]);
  return { crawl, row: { ...row!, key } };
}

test("record and due entry move together, nothing else of the record changes", async (context) => {
  const { crawl, row } = await given(context);
  assert.equal(await reschedule(crawl.services, row, AS_OF + DAY_MS), true);
  assert.deepEqual(await crawl.record(URL), { ...row.value, nextFetchAt: AS_OF + DAY_MS });
  assert.deepEqual(await crawl.due(), new Map([[place.urlId, [AS_OF + DAY_MS]]]));
});

test("who wrote the record in between wins, and its due entry stands", async (context) => {
  const { crawl, row } = await given(context);
  await crawl.services.tables.urls.compareAndSet(key, { ...row.value, version: 3 }, row.rev);
  assert.equal(await reschedule(crawl.services, row, AS_OF + DAY_MS), false);
  assert.deepEqual(await crawl.due(), new Map([[place.urlId, [row.value.nextFetchAt]]]));
});

for (const marks of [{ dueFrom: { priority: 1, dueAt: 5 } }, { index: "upsert" }] as const)
  test(`a completion that is not finished (${Object.keys(marks)}) is left alone`, async (context) => {
    const { crawl, row } = await given(context, { marks });
    assert.equal(await reschedule(crawl.services, row, AS_OF + DAY_MS), false);
    assert.deepEqual(await crawl.record(URL), row.value);
  });

test("a page that waits to be parsed again still waits", async (context) => {
  const { crawl, row } = await given(context, { marks: { reparse: true } });
  assert.equal(await reschedule(crawl.services, row, AS_OF + DAY_MS), true);
  assert.deepEqual((await crawl.record(URL))?.marks, { reparse: true });
});

test("whoever dies after the record's write leaves a mark that leads from the old entry to the new one", async (context) => {
  const { crawl, row } = await given(context);
  const due = { ...crawl.services.tables.due, put: () => Promise.reject(new Error("dead")) };
  await assert.rejects(reschedule({ tables: { ...crawl.services.tables, due } }, row, AS_OF + DAY_MS), /dead/);
  const { marks, priority, nextFetchAt } = (await crawl.record(URL)) as UrlState;
  assert.deepEqual([nextFetchAt, marks], [AS_OF + DAY_MS, { dueFrom: { priority, dueAt: row.value.nextFetchAt } }]);
  const [entry] = await due.get([dueKey({ ...place, priority, dueAt: row.value.nextFetchAt })]);
  assert.ok(entry !== undefined, "the old entry leads refills to the mark");
});
