// Is everything found that does not agree, mended where that can be, and nothing touched that a crawl beside it is about to finish?
import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { newHost } from "../../../../core/politeness/host-clock.ts";
import { cdxjLine } from "../../../../core/warc/cdxj.ts";
import { memoryTable } from "../../../../io/stores/memory-table.ts";
import { repairPhase } from "../../../../pipelines/daily/repair.ts";
import { recordTable } from "../../../../ports/versioned-table.ts";
import { type RepairKind, type RepairRow, repairKinds, repairReport } from "../../../../schemas/daily/repair.ts";
import { dueKey, hostDueKey, keyRanges, rowKey } from "../../../../schemas/row-key.ts";
import { segmentPlace } from "../../../../schemas/segment.ts";
import { Findings, noFindings, sumFindings, toReport, writeReport } from "../../../../transforms/daily/repair/findings.ts";
import { repairRange } from "../../../../transforms/daily/repair/repair-range.ts";
import { joinBodies, references, segmentIndexes, storedBodies } from "../../../../transforms/daily/repair/stored-bodies.ts";
import { bundle } from "../../contexts.ts";
import { AS_OF, CONFIG, DAY, type GivenCrawl, type GivenUrl, givenCrawl, placeOf, runPhase, tableRows } from "../given.ts";

const URL = "http://a.test/";
const DUE = AS_OF + 5_000;
const place = placeOf(URL);
const entry = (dueAt: number, urlId = place.urlId) => ({ ...place, urlId, priority: 2, dueAt });

async function put(crawl: GivenCrawl, ...entries: ReturnType<typeof entry>[]): Promise<void> {
  const { due } = crawl.services.tables;
  await due.put(entries.map((each) => ({ key: dueKey(each), rev: "", value: new Uint8Array() })));
}

/** All agrees: the record, its entry, its host's turn. */
async function sound(context: Parameters<typeof givenCrawl>[0], changes: Partial<GivenUrl> = {}): Promise<GivenCrawl> {
  const crawl = await givenCrawl(context);
  await crawl.put({ url: URL, nextFetchAt: DUE, ...changes });
  await crawl.services.tables.hostDue.insertIfAbsent([{ key: hostDueKey("a.test", 16), value: { nextDueAt: DUE } }]);
  return crawl;
}

async function reported(crawl: GivenCrawl): Promise<Partial<Record<RepairKind, [found: number, mended: number]>>> {
  await runPhase(crawl.services, repairPhase);
  const rows = await tableRows<RepairRow>(crawl.services.files, repairReport);
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    repairKinds,
  );
  return Object.fromEntries(rows.filter(({ found }) => found > 0).map(({ kind, found, mended }) => [kind, [found, mended]]));
}

const drop = (crawl: GivenCrawl) => crawl.services.tables.due.drop([dueKey(entry(DUE))]);
const segment = `dt=${DAY}/segment-1.warc.gz`;
async function store(crawl: GivenCrawl, offset: number, { mime = "text/html", at = AS_OF - 1 } = {}): Promise<void> {
  const path = join(crawl.folder, "pages", segment.replace(".warc.gz", ".cdxj"));
  await mkdir(dirname(path), { recursive: true });
  const fields = { url: URL, at, status: 200, mime, digest: "-" };
  await writeFile(path, cdxjLine(fields, { segment: "segment-1.warc.gz", offset, length: 9 }), { flag: "a" });
}
async function refer(crawl: GivenCrawl, hash: Buffer, offset: number, storedAt = AS_OF - 1): Promise<void> {
  const value = { segment, offset, length: 9, url: URL, storedAt };
  await crawl.services.tables.content.insertIfAbsent([{ key: hash.toString("hex"), value }]);
}

const damages: [damage: string, make: (crawl: GivenCrawl) => Promise<unknown>, told: Awaited<ReturnType<typeof reported>>][] = [
  ["nothing", async () => {}, {}],
  ["a record without its entry", drop, { "due-missing": [1, 1] }],
  ["an entry without a record", (crawl) => put(crawl, entry(DUE + 9, "none")), { "due-without-url": [1, 1] }],
  ["an entry of another time", (crawl) => put(crawl, entry(DUE - 9)), { "due-outdated": [1, 1] }],
  [
    "a host that its sweep would not find",
    (crawl) => crawl.services.tables.hostDue.delete([{ key: hostDueKey("a.test", 16) }]),
    { "host-without-turn": [1, 1] },
  ],
  [
    "a request that was never heard of again",
    (crawl) =>
      crawl.putHost("a.test", {
        ...newHost(1),
        inFlight: [
          {
            ...{ token: "t", leaseId: "l", urlId: "u", hostKey: "http://a.test", kind: "page", version: 1 },
            ...{ admittedAt: AS_OF - 90_000, sendBy: AS_OF - 89_000, expiresAt: AS_OF - 50_000 },
          },
        ],
      }),
    { "flight-expired": [1, 1] },
  ],
  ["a body that nothing refers to", (crawl) => store(crawl, 100), { "body-without-reference": [1, 0] }],
  ["a revisit, which has none", (crawl) => store(crawl, 100, { mime: "warc/revisit" }), {}],
  ["a body of the next day, whose reference may be on its way", (crawl) => store(crawl, 100, { at: AS_OF }), {}],
  ["a reference of the next day", (crawl) => refer(crawl, Buffer.alloc(20, 9), 100, AS_OF), {}],
  [
    "a body and its reference",
    async (crawl) => {
      await store(crawl, 100);
      await refer(crawl, Buffer.alloc(20, 9), 100);
    },
    {},
  ],
  ["a reference to nothing", (crawl) => refer(crawl, Buffer.alloc(20, 9), 100), { "reference-without-body": [1, 0] }],
];
for (const [damage, make, told] of damages)
  test(`${damage}: ${Object.keys(told).join(", ") || "nothing"} is told, and the next run finds nothing more to mend`, async (context) => {
    const crawl = await sound(context);
    await make(crawl);
    assert.deepEqual(await reported(crawl), told);
    const left = Object.entries(told).filter(([, [, mended]]) => mended === 0);
    assert.deepEqual(await reported(crawl), Object.fromEntries(left));
    assert.deepEqual(await crawl.due(), new Map([[place.urlId, [DUE]]]));
  });

test("a move of a due time that somebody died in is finished", async (context) => {
  const crawl = await sound(context, { marks: { dueFrom: { priority: 2, dueAt: DUE - 70 }, parseFailed: true } });
  await drop(crawl);
  await put(crawl, entry(DUE - 70));
  assert.deepEqual(await reported(crawl), { "due-move-unfinished": [1, 1] });
  assert.deepEqual(await crawl.due(), new Map([[place.urlId, [DUE]]]));
  assert.deepEqual((await crawl.record(URL))?.marks, { parseFailed: true });
});

test("where an index event waits too, the host's next turn is led to it: both entries stand, and its sweep finds the host", async (context) => {
  const marks = { dueFrom: { priority: 2, dueAt: DUE - 70 }, index: "upsert" } as const;
  const crawl = await sound(context, { marks });
  await drop(crawl);
  assert.deepEqual(await reported(crawl), {
    ...{ "due-move-unfinished": [1, 0], "index-event-unfinished": [1, 0] },
    "host-without-turn": [1, 1],
  });
  assert.deepEqual(await crawl.due(), new Map([[place.urlId, [DUE - 70, DUE]]]));
  assert.deepEqual((await crawl.record(URL))?.marks, marks);
  const [turn] = await crawl.services.tables.hostDue.get([hostDueKey("a.test", 16)]);
  assert.equal(turn?.value.nextDueAt, DUE - 70);
});

test("an index event that waits alone is told: the next visit publishes it", async (context) => {
  const crawl = await sound(context, { marks: { index: "delete" } });
  assert.deepEqual(await reported(crawl), { "index-event-unfinished": [1, 0] });
  assert.deepEqual((await crawl.record(URL))?.marks, { index: "delete" });
});

test("a body's record without a reference is told", async (context) => {
  const crawl = await sound(context, { contentHash: Buffer.alloc(20, 3) });
  assert.deepEqual(await reported(crawl), { "url-without-reference": [1, 0] });
});

test("a body whose segment was composed into a larger one meets its reference there", async (context) => {
  const crawl = await sound(context);
  const segments = recordTable(memoryTable(), segmentPlace, crawl.services.random);
  const base = 5_000;
  await segments.insertIfAbsent([
    { key: `dt=${DAY}/segment-small.warc.gz`, value: { object: segment, base } },
    { key: `dt=${DAY}/segment-other.warc.gz`, value: { object: segment, base: 2 * base } },
  ]);
  await store(crawl, base + 100);
  const value = { offset: 100, length: 9, url: URL, storedAt: AS_OF - 1 };
  for (const [name, first] of [
    ["small", 1],
    ["other", 2],
  ] as const)
    await crawl.services.tables.content.insertIfAbsent([
      { key: Buffer.alloc(20, first).toString("hex"), value: { ...value, segment: `dt=${DAY}/segment-${name}.warc.gz` } },
    ]);
  const services = { ...crawl.services, segments };
  assert.deepEqual(await reported({ ...crawl, services }), { "reference-without-body": [1, 0] });
});

test("a completion that goes on while it is looked at is not mended, and nothing of it is lost", async (context) => {
  const crawl = await sound(context);
  const { tables } = crawl.services;
  const key = rowKey(place.paceKey, place.urlId);
  let reads = 0;
  // Between the reading of the records and that of their entries a visit completes: record first, new entry, old entry.
  const urls = {
    ...tables.urls,
    scan: async (range: Parameters<typeof tables.urls.scan>[0]) => {
      const rows = await tables.urls.scan(range);
      if (rows.length > 0 && reads++ === 0) {
        await tables.urls.compareAndSet(key, { ...rows[0]!.value, version: 3, nextFetchAt: DUE + 777 }, rows[0]!.rev);
        await put(crawl, entry(DUE + 777));
        await drop(crawl);
      }
      return rows;
    },
  };
  assert.deepEqual(await reported({ ...crawl, services: { ...crawl.services, tables: { ...tables, urls } } }), {});
  assert.equal(reads > 0, true);
  assert.deepEqual(await crawl.due(), new Map([[place.urlId, [DUE + 777]]]));
});

test("an entry that its record comes to call for while it is dropped stands afterwards", async (context) => {
  const crawl = await sound(context);
  const { tables } = crawl.services;
  await put(crawl, entry(DUE + 9));
  const key = rowKey(place.paceKey, place.urlId);
  const drops: string[] = [];
  const due = {
    ...tables.due,
    async drop(keys: readonly string[]) {
      const [row] = await tables.urls.get([key]);
      await tables.urls.compareAndSet(key, { ...row!.value, nextFetchAt: DUE + 9 }, row!.rev);
      await put(crawl, entry(DUE + 9)); // its writer has put it before we drop
      await tables.due.drop(keys);
      drops.push(...keys);
    },
  };
  assert.deepEqual(await reported({ ...crawl, services: { ...crawl.services, tables: { ...tables, due } } }), {});
  assert.deepEqual(drops, [dueKey(entry(DUE + 9))]);
  assert.deepEqual(await crawl.due(), new Map([[place.urlId, [DUE, DUE + 9]]]));
});

test("more hosts than are looked up together: each that its sweep would not find is found again", async (context) => {
  const crawl = await givenCrawl(context);
  const hosts = Array.from({ length: 1_200 }, (_, index) => `h${index}.test`);
  await crawl.put(
    ...hosts.flatMap((host) => [DUE, DUE + 7].map((nextFetchAt) => ({ url: `http://${host}/${nextFetchAt}`, nextFetchAt }))),
  );
  const all = { part: "all", from: "", to: "~" };
  const emitted = bundle<{ findings: never }>();
  await repairRange.make(CONFIG, crawl.services).process(all, emitted as never);
  assert.deepEqual(
    emitted.emitted.map(({ value: { key, value } }) => [key, value.found, value.mended]),
    [["host-without-turn", 1_200, 1_200]],
  );
  const turns = await crawl.services.tables.hostDue.get(hosts.map((host) => hostDueKey(host, 16)));
  assert.deepEqual([...new Set(turns.map((turn) => turn?.value.nextDueAt))], [DUE]);
});

test("findings are summed in any order and parts, with the same samples", () => {
  const parts = ["c", "a", "d", "b", "a"].map((sample) => {
    const found = new Findings();
    found.add("due-missing", sample, sample < "c");
    const context = bundle<{ findings: never }>();
    found.emitTo(context as never);
    return context.emitted[0]!.value.value;
  });
  const forth = parts.reduce(sumFindings.merge, sumFindings.create());
  const back = parts.toReversed().reduce(sumFindings.add, sumFindings.create());
  assert.deepEqual(forth, back);
  assert.deepEqual(forth, { found: 5, mended: 3, samples: ["a", "b", "c"] });
});

test("each step has a name of its own, and a range is read without a word where all is well", async (context) => {
  const steps = [noFindings, toReport, writeReport, repairRange, joinBodies, references, segmentIndexes, storedBodies];
  assert.equal(new Set(steps.map(({ name }) => name)).size, steps.length);
  const { services } = await sound(context);
  const emitted = bundle<{ findings: never }>();
  for (const range of keyRanges.slice(0, 20)) await repairRange.make(CONFIG, services).process(range, emitted as never);
  assert.deepEqual(emitted.emitted, []);
});
