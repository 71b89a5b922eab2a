import assert from "node:assert/strict";
import { test } from "node:test";
import { urlIdentity } from "../../core/url/keys.ts";
import { StoreError } from "../../ports/versioned-table.ts";
import { hostDueKey, rowKey } from "../../schemas/row-key.ts";
import type { UrlState } from "../../schemas/url-state.ts";
import { putDue } from "../../transforms/due-index.ts";
import { type RepairReport, repair } from "../../transforms/repair.ts";
import { url } from "../core/frontier/given.ts";
import { dueEntries, dueFaults, reparses, START, urlRecord, world } from "./world.ts";

type World = ReturnType<typeof world>;
const NOTHING: RepairReport = { urls: 0, pagesAsked: 0, marksFinished: 0, dueAdded: 0, dueDropped: 0 };

/** A record without anything around it. */
async function add(given: World, path: string, change: Partial<UrlState> = {}): Promise<string> {
  const canonicalUrl = `http://a.test/${path}`;
  const { urlId } = urlIdentity(canonicalUrl);
  const value = url({ canonicalUrl, nextFetchAt: START + 1_000, ...change });
  await given.services.tables.urls.insertIfAbsent([{ key: rowKey("a.test", urlId), value }]);
  return urlId;
}

async function addWhole(given: World, path: string, change: Partial<UrlState> = {}): Promise<string> {
  const urlId = await add(given, path, change);
  const { priority, nextFetchAt } = (await urlRecord(given, "a.test", urlId))!;
  await putDue(given.services, [{ paceKey: "a.test", urlId, priority, dueAt: nextFetchAt }]);
  return urlId;
}

const mend = (given: World) => repair({ services: given.services, sweepShards: 4 });

test("where all is well nothing is changed, and the pages that were asked for are counted", async () => {
  const given = world();
  await addWhole(given, "new");
  await addWhole(given, "seen", { lastFetchAt: 5 });
  await addWhole(given, "sitemap", { lastFetchAt: 5, kind: "sitemap" });
  const before = await dueEntries(given);
  assert.deepEqual(await mend(given), { ...NOTHING, urls: 3, pagesAsked: 1 });
  assert.deepEqual(await dueEntries(given), before);
});

test("an empty store is well", async () => {
  assert.deepEqual(await mend(world()), NOTHING);
});

const dueFrom = { priority: 1, dueAt: START - 50 };
const damages: [damage: string, make: (given: World) => Promise<unknown>, report: Partial<RepairReport>][] = [
  ["a record without its entry", (given) => add(given, "y0"), { urls: 1, dueAdded: 1 }],
  [
    "an entry without a record",
    (given) => putDue(given.services, [{ paceKey: "a.test", urlId: "none", priority: 1, dueAt: 5 }]),
    { dueDropped: 1 },
  ],
  [
    "an entry of another time",
    async (given) => {
      const urlId = await addWhole(given, "x0");
      await putDue(given.services, [{ paceKey: "a.test", urlId, priority: 1, dueAt: 5 }]);
    },
    { urls: 1, dueDropped: 1 },
  ],
  [
    "an entry of another class",
    async (given) => {
      const urlId = await addWhole(given, "x1");
      await putDue(given.services, [{ paceKey: "a.test", urlId, priority: 3, dueAt: START + 1_000 }]);
    },
    { urls: 1, dueDropped: 1 },
  ],
  [
    "a completion that did not get to move its entry",
    async (given) => {
      const urlId = await add(given, "y1", { marks: { dueFrom } });
      await putDue(given.services, [{ paceKey: "a.test", urlId, ...dueFrom }]);
    },
    { urls: 1, marksFinished: 1 },
  ],
  [
    "an event that was not published",
    (given) => addWhole(given, "x2", { marks: { index: "delete" } }),
    { urls: 1, marksFinished: 1 },
  ],
];
for (const [damage, make, report] of damages)
  test(`repair: ${damage} is found, counted and mended, and not found again`, async () => {
    const given = world();
    await make(given);
    assert.ok((await dueFaults(given)).length > 0, "there is a fault");
    assert.deepEqual(await mend(given), { ...NOTHING, ...report });
    assert.deepEqual(await dueFaults(given), []);
    const urls = report.urls ?? 0;
    assert.deepEqual(await mend(given), { ...NOTHING, urls });
    if (urls > 0) {
      const [due] = await given.services.tables.hostDue.get([hostDueKey("a.test", 4)]);
      assert.ok(due !== undefined && due.value.nextDueAt <= START + 1_000, "the sweep knows the host");
    }
  });

test("the event of a mark is the one of the record's document version", async () => {
  const given = world();
  const urlId = await addWhole(given, "x3", { marks: { index: "delete" }, docVersion: 4, lastFetchAt: 77 });
  await mend(given);
  assert.deepEqual(given.events.of("index"), [{ at: 77, urlId, docVersion: 4, op: "delete", url: "http://a.test/x3" }]);
});

test("a page that waits for a parser is sent to it again, and its mark stands until it was parsed", async () => {
  const given = world();
  const urlId = await addWhole(given, "x4", { marks: { reparse: true }, version: 3 });
  await mend(given);
  assert.deepEqual(await reparses(given), [{ paceKey: "a.test", urlId, version: 3 }]);
  assert.deepEqual((await urlRecord(given, "a.test", urlId))?.marks, { reparse: true });
});

test("a page that could not be parsed is left alone: it waits for a replay", async () => {
  const given = world();
  const urlId = await addWhole(given, "x5", { marks: { parseFailed: true } });
  assert.deepEqual(await mend(given), { ...NOTHING, urls: 1 });
  assert.deepEqual([await reparses(given), (await urlRecord(given, "a.test", urlId))?.marks], [[], { parseFailed: true }]);
});

test("more rows than one scan reads are all mended, and progress is told", async () => {
  const given = world();
  for (let index = 0; index < 2_100; index++) await add(given, String(index));
  await putDue(
    given.services,
    Array.from({ length: 1_500 }, (_, index) => ({ paceKey: "b.test", urlId: `gone${index}`, priority: 2, dueAt: index })),
  );
  const told: number[] = [];
  const report = await repair({ services: given.services, sweepShards: 4, progress: ({ urls }) => told.push(urls) });
  assert.deepEqual(report, { ...NOTHING, urls: 2_100, dueAdded: 2_100, dueDropped: 1_500 });
  assert.deepEqual(told, [1_000, 2_000]);
  assert.deepEqual(await dueFaults(given), []);
});

/** Records of so many hosts, each with its entry and known to the sweep. */
async function addHosts(given: World, hosts: number): Promise<void> {
  const paceKeys = Array.from({ length: hosts }, (_, index) => `h${index}.test`);
  const urls = paceKeys.map((paceKey) => {
    const canonicalUrl = `http://${paceKey}/`;
    const { urlId } = urlIdentity(canonicalUrl);
    return { paceKey, urlId, value: url({ canonicalUrl, nextFetchAt: START + 1_000 }) };
  });
  const { tables } = given.services;
  await tables.urls.insertIfAbsent(urls.map(({ paceKey, urlId, value }) => ({ key: rowKey(paceKey, urlId), value })));
  await putDue(
    given.services,
    urls.map(({ paceKey, urlId, value }) => ({ paceKey, urlId, priority: value.priority, dueAt: value.nextFetchAt })),
  );
  const nextDueAt = START + 1_000;
  await tables.hostDue.insertIfAbsent(paceKeys.map((paceKey) => ({ key: hostDueKey(paceKey, 4), value: { nextDueAt } })));
}

test("more hosts than are remembered at a time: the few that are not whole are mended, and of no other a record is read twice", async () => {
  const given = world();
  const hosts = 10_100;
  await addHosts(given, hosts);
  const { tables } = given.services;
  const [first] = await tables.due.scan({ from: "", to: "\u{10ffff}", limit: 1 });
  const every = await tables.due.scan({ from: "", to: "\u{10ffff}", limit: hosts });
  await tables.due.delete([first!, every.at(-1)!]);
  await putDue(given.services, [{ paceKey: "none.test", urlId: "gone", priority: 1, dueAt: 5 }]);
  const keysRead: string[] = [];
  const noting =
    <R>(get: (keys: readonly string[]) => Promise<R>) =>
    (keys: readonly string[]) => {
      keysRead.push(...keys);
      return get(keys);
    };
  const { urls, due } = tables;
  const watched = { ...tables, urls: { ...urls, get: noting(urls.get) }, due: { ...due, get: noting(due.get) } };
  const report = await repair({ services: { ...given.services, tables: watched }, sweepShards: 4 });
  assert.deepEqual(report, { ...NOTHING, urls: hosts, dueAdded: 2, dueDropped: 1 });
  assert.equal(keysRead.length, 5, "two records, their two entries twice, and the one that was to go");
  assert.deepEqual(await dueFaults(given), []);
});

test("two hosts that have each other's number of entries are told apart", async () => {
  const given = world();
  await add(given, "y5");
  const dueAt = START + 1_000;
  await putDue(given.services, [{ paceKey: "b.test", urlId: "none", priority: 1, dueAt }]);
  assert.deepEqual(await mend(given), { ...NOTHING, urls: 1, dueAdded: 1, dueDropped: 1 });
});

test("the entry that another worker's completion is about to replace stands, as it leads to the marks", async () => {
  const given = world();
  const urlId = await add(given, "y6", { marks: { dueFrom: { priority: 1, dueAt: START - 50 } } });
  const former = { paceKey: "a.test", urlId, priority: 1, dueAt: START - 50 };
  await putDue(given.services, [former]);
  const { urls, due } = given.services.tables;
  const completing = {
    ...given.services.tables,
    due: { ...due, delete: async () => [] },
    urls: { ...urls, compareAndSet: async () => undefined }, // the record has moved on: its marks are another's to finish
  };
  const report = await repair({ services: { ...given.services, tables: completing }, sweepShards: 4 });
  assert.deepEqual([report.marksFinished, report.dueDropped], [1, 0]);
});

const WAITED_MS = 60_000;

test("a store that refuses one of thirty calls keeps no repair of many hosts from its end", async () => {
  const given = world();
  await addHosts(given, 200);
  const { tables } = given.services;
  const rows = await tables.hostDue.scan({ from: "", to: "\u{10ffff}", limit: 200 });
  for (const { key, rev } of rows) await tables.hostDue.compareAndSet(key, { nextDueAt: START + 5_000 }, rev);
  let calls = 0;
  const sometimes =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (++calls % 30 === 0) throw new StoreError("away");
      return work(...args);
    };
  const { hostDue } = tables;
  const faulty = { ...hostDue, get: sometimes(hostDue.get), compareAndSet: sometimes(hostDue.compareAndSet) };
  const mended = repair({ services: { ...given.services, tables: { ...tables, hostDue: faulty } }, sweepShards: 4 });
  await given.clock.run(given.clock.now() + WAITED_MS);
  await mended;
  const lowered = await hostDue.scan({ from: "", to: "\u{10ffff}", limit: 200 });
  assert.deepEqual([...new Set(lowered.map(({ value }) => value.nextDueAt))], [START + 1_000]);
  assert.ok(calls > 400, `${calls} calls`);
});

test("a store that refuses once in a while keeps no repair from its end", async () => {
  const given = world();
  for (let index = 0; index < 30; index++) await add(given, String(index));
  let calls = 0;
  const { urls, due } = given.services.tables;
  const often =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (++calls % 2 === 1) throw new StoreError("away");
      return work(...args);
    };
  const tables = {
    ...given.services.tables,
    urls: { ...urls, scan: often(urls.scan) },
    due: { ...due, get: often(due.get), scan: often(due.scan) },
  };
  const mended = repair({ services: { ...given.services, tables }, sweepShards: 4 });
  await given.clock.run(given.clock.now() + WAITED_MS);
  assert.equal((await mended).dueAdded, 30);
  assert.deepEqual(await dueFaults(given), []);
});

test("a repair that is killed at any write is finished by the next one", async () => {
  let deaths = 0;
  for (let write = 0; ; write++) {
    const given = world({ dies: { write, when: write % 2 === 0 ? "before" : "after" } });
    const live = { ...given, services: given.restarted };
    for (const [, make] of damages) await make(live);
    const mended = mend(given).then(
      () => false,
      () => true,
    );
    await given.clock.run(given.clock.now() + WAITED_MS); // a store that refuses is waited for
    const died = await mended;
    if (!died) break;
    deaths++;
    await mend(live);
    assert.deepEqual(await dueFaults(live), [], `dead at write ${write}`);
  }
  assert.ok(deaths > 5, `${deaths} deaths`);
});
