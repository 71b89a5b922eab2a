// Are due times planned from what the records say, moved in record and index alike, and never against a fetch that finished meanwhile?
import assert from "node:assert/strict";
import { test } from "node:test";
import { newHost } from "../../../../core/politeness/host-clock.ts";
import { reschedulePhase, revisitPhase } from "../../../../pipelines/daily/revisit.ts";
import { StoreError } from "../../../../ports/versioned-table.ts";
import {
  type HostBudgetRow,
  hostBudgets,
  type RescheduledRow,
  rescheduled,
  revisitSchedule,
  type ScheduleRow,
} from "../../../../schemas/daily/revisit.ts";
import { hostDueKey, rowKey } from "../../../../schemas/row-key.ts";
import { AS_OF, CONFIG, DAY_MS, type GivenCrawl, givenCrawl, manifestOf, placeOf, runPhase, tableRows } from "../given.ts";

const changing = (days: number) => Array.from({ length: 6 }, () => ({ afterMs: days * DAY_MS, changed: true }));
const quiet = (days: number) => Array.from({ length: 6 }, () => ({ afterMs: days * DAY_MS, changed: false }));
const schedule = (crawl: GivenCrawl) => tableRows<ScheduleRow>(crawl.services.files, revisitSchedule);

test("a page that changes daily comes forward, a quiet one goes back, and what is no revisit stays", async (context) => {
  const crawl = await givenCrawl(context);
  await crawl.put(
    { url: "http://a.test/news", changeHistory: changing(2), nextFetchAt: AS_OF + 25 * DAY_MS },
    { url: "http://a.test/imprint", changeHistory: quiet(25), nextFetchAt: AS_OF + 1 * DAY_MS },
    { url: "http://a.test/new", version: 0, priority: 1, nextFetchAt: AS_OF - 1 },
    { url: "http://a.test/down", failureCount: 2, priority: 1, nextFetchAt: AS_OF + DAY_MS, lastOutcome: "failed" },
    { url: "http://a.test/gone", priority: 3, nextFetchAt: AS_OF + 29 * DAY_MS, lastOutcome: "gone" },
  );
  await runPhase(crawl.services, revisitPhase);
  const rows = await schedule(crawl);
  assert.deepEqual(rows.map(({ url }) => url).sort(), ["http://a.test/imprint", "http://a.test/news"]);
  const [imprint, news] = rows.sort((one, other) => (one.url < other.url ? -1 : 1));
  assert.deepEqual([news!.tier, news!.reason, imprint!.tier], ["A", "wanted", "D"]);
  assert.ok(news!.dueAt < AS_OF + DAY_MS, `${(news!.dueAt - AS_OF) / DAY_MS} days`);
  assert.ok(imprint!.dueAt > AS_OF + 14 * DAY_MS && imprint!.dueAt <= AS_OF + 27 * DAY_MS);
  const [budget] = await tableRows<HostBudgetRow>(crawl.services.files, hostBudgets);
  assert.deepEqual([budget!.urls, budget!.undiscovered, budget!.thresholdMicro], [5, 1, undefined]);
  // Nothing is changed before the schedule is closed.
  assert.equal((await crawl.record("http://a.test/news"))?.nextFetchAt, AS_OF + 25 * DAY_MS);
});

test("moved URLs have one due entry at the new time, and their host is found by its sweep", async (context) => {
  const crawl = await givenCrawl(context);
  await crawl.put({ url: "http://a.test/news", changeHistory: changing(2), nextFetchAt: AS_OF + 25 * DAY_MS });
  const { hostDue } = crawl.services.tables;
  const key = hostDueKey("a.test", 16);
  await hostDue.insertIfAbsent([{ key, value: { nextDueAt: AS_OF + 25 * DAY_MS } }]);
  await runPhase(crawl.services, revisitPhase);
  await runPhase(crawl.services, reschedulePhase);
  const [{ dueAt } = { dueAt: 0 }] = await schedule(crawl);
  const record = await crawl.record("http://a.test/news");
  assert.deepEqual([record?.nextFetchAt, record?.marks, record?.version], [dueAt, undefined, 2]);
  assert.deepEqual([...(await crawl.due()).values()], [[dueAt]]);
  assert.equal((await hostDue.get([key]))[0]?.value.nextDueAt, dueAt);
  const [told] = await tableRows<RescheduledRow>(crawl.services.files, rescheduled);
  assert.deepEqual([told!.moved, told!.superseded], [1, 0]);
});

test("a fetch that finished between plan and move wins", async (context) => {
  const crawl = await givenCrawl(context);
  const url = "http://a.test/news";
  await crawl.put({ url, changeHistory: changing(2), nextFetchAt: AS_OF + 25 * DAY_MS });
  await runPhase(crawl.services, revisitPhase);
  const { paceKey, urlId } = placeOf(url);
  const { urls } = crawl.services.tables;
  const [row] = await urls.get([rowKey(paceKey, urlId)]);
  await urls.compareAndSet(rowKey(paceKey, urlId), { ...row!.value, version: 3, nextFetchAt: AS_OF + 9 * DAY_MS }, row!.rev);
  await runPhase(crawl.services, reschedulePhase);
  assert.equal((await crawl.record(url))?.nextFetchAt, AS_OF + 9 * DAY_MS);
  const [told] = await tableRows<RescheduledRow>(crawl.services.files, rescheduled);
  assert.deepEqual([told!.moved, told!.superseded], [0, 1]);
});

test("a host that may be asked for four pages a day is planned for four, those worth most", async (context) => {
  const crawl = await givenCrawl(context);
  await crawl.putHost("slow.test", { ...newHost(1), crawlDelayMs: DAY_MS / 4, lastAnsweredAt: AS_OF - DAY_MS });
  const pages = Array.from({ length: 40 }, (_, at) => ({
    url: `http://slow.test/${at}`,
    changeHistory: changing(2),
    quality: at,
    nextFetchAt: AS_OF + DAY_MS / 2,
  }));
  await crawl.put(...pages);
  await runPhase(crawl.services, revisitPhase);
  const [budget] = await tableRows<HostBudgetRow>(crawl.services.files, hostBudgets);
  assert.deepEqual([budget!.capacity, budget!.wantedMilli > 4_000], [4, true]);
  assert.ok(budget!.thresholdMicro! > 0);
  const later = await schedule(crawl);
  const stay = pages.filter(({ url }) => !later.some((row) => row.url === url));
  assert.ok(later.every(({ reason, dueAt }) => reason === "over-budget" && dueAt >= AS_OF + DAY_MS));
  assert.ok(stay.length >= 3 && stay.length <= 6, `${stay.length} stay on the day`);
  assert.ok(Math.min(...stay.map(({ quality }) => quality)) >= 30);
});

test("a budget over the whole crawl takes the pages worth most, on whichever host they are", async (context) => {
  const crawl = await givenCrawl(context);
  for (const host of ["a", "b", "c"])
    await crawl.put(
      ...Array.from({ length: 20 }, (_, at) => ({
        url: `http://${host}.test/${at}`,
        changeHistory: changing(2),
        quality: host === "b" ? 100 : 10,
        nextFetchAt: AS_OF + DAY_MS / 2,
      })),
    );
  await runPhase(crawl.services, revisitPhase, { ...CONFIG, revisitsPerDay: 20 });
  const hosts = (await schedule(crawl)).map(({ paceKey }) => paceKey);
  assert.deepEqual(Map.groupBy(hosts, (host) => host).get("b.test"), undefined);
  assert.equal(hosts.length, 40);
});

test("a host with more URLs than a run holds is one host all the same", async (context) => {
  const crawl = await givenCrawl(context);
  const urls = Array.from({ length: 2_500 }, (_, at) => ({ url: `http://large.test/${at}` }));
  await crawl.put(...urls, { url: "http://other.test/" });
  await runPhase(crawl.services, revisitPhase);
  const rows = await tableRows<HostBudgetRow>(crawl.services.files, hostBudgets);
  assert.deepEqual(Object.fromEntries(rows.map(({ paceKey, urls }) => [paceKey, urls])), {
    "large.test": 2_500,
    "other.test": 1,
  });
});

test("a run that dies in the middle and is done again comes to what one run comes to", async (context) => {
  const outcome = async (dieAt: number) => {
    const crawl = await givenCrawl(context);
    const pages = Array.from({ length: 30 }, (_, at) => ({ url: `http://h${at % 7}.test/${at}`, changeHistory: changing(2) }));
    await crawl.put(...pages.map((page) => ({ ...page, nextFetchAt: AS_OF + 25 * DAY_MS })));
    await runPhase(crawl.services, revisitPhase);
    const { urls } = crawl.services.tables;
    let writes = 0;
    const dying = {
      ...urls,
      compareAndSet: async (...given: Parameters<typeof urls.compareAndSet>) => {
        if (++writes > dieAt) throw new StoreError("the disk is gone", { final: true });
        return urls.compareAndSet(...given);
      },
    };
    const tables = { ...crawl.services.tables, urls: dying };
    const died = runPhase({ ...crawl.services, tables }, reschedulePhase, CONFIG, { bundleTries: 1 });
    if (dieAt < 60) await assert.rejects(died, /a bundle failed/);
    else await died;
    await runPhase(crawl.services, reschedulePhase);
    const records = await Promise.all(pages.map(async ({ url }) => (await crawl.record(url))?.nextFetchAt));
    const due = await crawl.due();
    assert.ok([...due.values()].every((times) => times.length === 1));
    return { records, due: [...due].sort(), manifest: await manifestOf(crawl.services.files, rescheduled) };
  };
  const whole = await outcome(Number.POSITIVE_INFINITY);
  for (const dieAt of [0, 1, 17, 59]) assert.deepEqual(await outcome(dieAt), whole);
});
