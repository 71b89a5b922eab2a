// Does a closed day hold each version of a document once, each whole file in one manifest, and nothing that changes afterwards?
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { families, filesToClose, namedBy, wholeFiles } from "../../../../core/partitions/partition-files.ts";
import { partitionsPhase } from "../../../../pipelines/daily/partitions.ts";
import type { DailyConfig } from "../../../../pipelines/daily/phase.ts";
import type { PartitionManifest } from "../../../../schemas/daily/manifest.ts";
import { chooseFiles } from "../../../../transforms/daily/partitions/choose-files.ts";
import { closePartition } from "../../../../transforms/daily/partitions/close-partition.ts";
import { compactHours, segmentHours } from "../../../../transforms/daily/partitions/compact-hours.ts";
import { closeDocuments, findSuperfluous, gatherFacts, readPlaces } from "../../../../transforms/daily/partitions/documents.ts";
import { joined, withoutLines } from "../../../../transforms/daily/partitions/rewrite-files.ts";
import { closeSegments } from "../../../../transforms/daily/partitions/segments.ts";
import { standingManifest } from "../../../../transforms/daily/partitions/standing-manifest.ts";
import { bundle } from "../../contexts.ts";
import { AS_OF, CONFIG, DAY, DAY_MS, type GivenCrawl, givenCrawl, runPhase } from "../given.ts";

const NEXT = { day: "2026-12-01", asOf: AS_OF + DAY_MS };
const document = (urlId: string, docVersion: number) => JSON.stringify({ urlId, docVersion, text: "x".repeat(50) });

async function put(crawl: GivenCrawl, path: string, lines: readonly string[]): Promise<void> {
  await mkdir(join(crawl.folder, dirname(path)), { recursive: true });
  const text = lines.map((line) => `${line}\n`).join("");
  await writeFile(join(crawl.folder, path), path.endsWith(".gz") ? gzipSync(text) : text);
}

async function manifest(crawl: GivenCrawl, family: "documents" | "pages", day = DAY): Promise<PartitionManifest> {
  const found = await standingManifest(crawl.services.files, family, day);
  assert.ok(found !== undefined, `${family} of ${day} are not closed`);
  return found;
}

async function lines(crawl: GivenCrawl, path: string): Promise<string[]> {
  const all: string[] = [];
  for await (const some of crawl.services.files.lines(path)) all.push(...some);
  return all;
}

/** Files of a few lines are large here. */
const FEW_BYTES = 2;

const close = (crawl: GivenCrawl, config: DailyConfig = { ...CONFIG, joinedBytes: FEW_BYTES }) =>
  runPhase(crawl.services, partitionsPhase, config);

test("each version of a document stands once, whichever parts it came in; files without doubles stay as they are", async (context) => {
  const crawl = await givenCrawl(context);
  await put(crawl, `documents/dt=${DAY}/part-a.ndjson.gz`, [
    document("u1", 1),
    document("u2", 1),
    document("u1", 1),
    document("u1", 2),
  ]);
  await put(crawl, `documents/dt=${DAY}/part-b.ndjson.gz`, [document("u2", 1), document("u3", 1)]);
  await put(crawl, `documents/dt=${DAY}/part-c.ndjson.gz`, [document("u4", 1)]);
  const untouched = await readFile(join(crawl.folder, `documents/dt=${DAY}/part-c.ndjson.gz`));
  await close(crawl);
  const { files, rows } = await manifest(crawl, "documents");
  assert.deepEqual(
    [rows, files.map(({ name, rows }) => `${name} ${rows}`)],
    [5, ["part-a.ndjson.gz 3", "part-b.ndjson.gz 1", "part-c.ndjson.gz 1"]],
  );
  assert.deepEqual(await lines(crawl, `documents/dt=${DAY}/part-a.ndjson.gz`), [
    document("u1", 1),
    document("u2", 1),
    document("u1", 2),
  ]);
  assert.deepEqual(await lines(crawl, `documents/dt=${DAY}/part-b.ndjson.gz`), [document("u3", 1)]);
  assert.deepEqual(await readFile(join(crawl.folder, `documents/dt=${DAY}/part-c.ndjson.gz`)), untouched);
  for (const { name, bytes, sha256 } of files) {
    const path = `documents/dt=${DAY}/${name}`;
    assert.deepEqual(await crawl.services.files.digest(path), { name: path, bytes, sha256 });
  }
});

test("what is open is not closed; repaired later, it goes into the next day's manifest and into no other", async (context) => {
  const crawl = await givenCrawl(context);
  const open = `pages/dt=${DAY}/segment-open.warc.gz`;
  for (const name of ["done", "open"]) {
    await put(crawl, `pages/dt=${DAY}/segment-${name}.warc.gz`, [`warc ${name}`]);
    await put(crawl, `pages/dt=${DAY}/segment-${name}.cdxj`, ["one", "two"]);
  }
  await put(crawl, `${open}.open`, []);
  await close(crawl);
  const today = await manifest(crawl, "pages");
  assert.deepEqual(
    today.files.map(({ name, rows }) => `${name} ${rows}`),
    ["segment-done.cdxj 2", "segment-done.warc.gz 2"],
  );
  assert.equal(today.rows, 2);
  await crawl.services.files.remove(`${open}.open`);
  await put(crawl, "pages/dt=2026-12-01/segment-new.warc.gz", ["warc new"]);
  await close(crawl, NEXT);
  const next = await manifest(crawl, "pages", NEXT.day);
  assert.deepEqual(
    next.files.map(({ name }) => name),
    [`../dt=${DAY}/segment-open.cdxj`, `../dt=${DAY}/segment-open.warc.gz`, "segment-new.warc.gz"],
  );
  await close(crawl, { day: "2026-12-02", asOf: AS_OF + 2 * DAY_MS });
  assert.deepEqual((await manifest(crawl, "pages", "2026-12-02")).files, []);
  assert.deepEqual(await manifest(crawl, "pages"), today);
});

test("a closed day is not closed again, whatever stands there since", async (context) => {
  const crawl = await givenCrawl(context);
  await put(crawl, `documents/dt=${DAY}/part-a.ndjson.gz`, [document("u1", 1)]);
  await close(crawl);
  const before = await manifest(crawl, "documents");
  await put(crawl, `documents/dt=${DAY}/part-late.ndjson.gz`, [document("u1", 1), document("u1", 1)]);
  await close(crawl);
  assert.deepEqual(await manifest(crawl, "documents"), before);
  assert.equal((await lines(crawl, `documents/dt=${DAY}/part-late.ndjson.gz`)).length, 2);
});

test("a try that failed behind the rewriting is taken up; a file that grew while its day was closed is told", async (context) => {
  const crawl = await givenCrawl(context);
  const path = `documents/dt=${DAY}/part-a.ndjson.gz`;
  await put(crawl, path, [document("u1", 1), document("u1", 1)]);
  async function* values() {
    yield { path, count: 2, superfluous: [1] };
  }
  const closing = closeDocuments.make(CONFIG, crawl.services);
  for (let tries = 0; tries < 2; tries++) {
    const context = bundle<typeof closeDocuments.outputs>();
    await closing.process(path, values(), context);
    assert.equal(context.emitted[0]!.value.value.rows, 1);
  }
  await put(crawl, path, [document("u1", 1), document("u1", 1), document("u1", 1)]);
  await assert.rejects(async () => closing.process(path, values(), bundle()), /had 2 lines and has 3/);
});

test("small files become one, late ones of an earlier day among them, and each document of theirs stands once", async (context) => {
  const crawl = await givenCrawl(context);
  const late = "documents/dt=2026-11-29/part-late.ndjson.gz";
  await close(crawl, { day: "2026-11-29", asOf: AS_OF - DAY_MS });
  await put(crawl, late, [document("u9", 1)]);
  await put(crawl, `documents/dt=${DAY}/part-a.ndjson.gz`, [document("u1", 1), document("u2", 1)]);
  await put(crawl, `documents/dt=${DAY}/part-b.ndjson.gz`, [document("u2", 1), document("u3", 1)]);
  await close(crawl, CONFIG);
  const { files, rows } = await manifest(crawl, "documents");
  assert.deepEqual([files.length, rows], [1, 4]);
  assert.match(files[0]!.name, /^part-joined-[0-9a-f]{24}\.ndjson\.gz$/);
  const expected = [document("u9", 1), document("u1", 1), document("u2", 1), document("u3", 1)];
  assert.deepEqual(await lines(crawl, `documents/dt=${DAY}/${files[0]!.name}`), expected);
  const left = (await crawl.services.files.list("documents")).map(({ name }) => name).filter((name) => name.endsWith(".gz"));
  assert.deepEqual(left, [`documents/dt=${DAY}/${files[0]!.name}`]);
});

test("joining that broke off before or behind the removal of its parts comes to the same at the next try, and in the next run", async (context) => {
  const crawl = await givenCrawl(context);
  const parts = ["a", "b"].map((name) => `documents/dt=${DAY}/part-${name}.ndjson.gz`);
  const putParts = async () => {
    for (const [at, path] of parts.entries()) await put(crawl, path, [document(`u${at}`, 1), document(`u${at}`, 2)]);
  };
  async function* values() {
    for (const path of parts) yield { path, count: 2, superfluous: [] };
  }
  await putParts();
  const closing = closeDocuments.make(CONFIG, crawl.services);
  const first = bundle<typeof closeDocuments.outputs>();
  await closing.process("group", values(), first);
  const again = bundle<typeof closeDocuments.outputs>();
  await closing.process("group", values(), again);
  assert.deepEqual(again.emitted, first.emitted);
  await putParts(); // as if they had not been removed
  await close(crawl, CONFIG);
  const { files, rows } = await manifest(crawl, "documents");
  assert.deepEqual([files.length, rows], [1, 4]);
  const all = await lines(crawl, `documents/dt=${DAY}/${files[0]!.name}`);
  assert.deepEqual(all.toSorted(), [0, 1].flatMap((at) => [document(`u${at}`, 1), document(`u${at}`, 2)]).toSorted());
});

test("each hour of an open day is compacted before its files are looked up, and none of a closed one", async (context) => {
  const crawl = await givenCrawl(context);
  await put(crawl, `pages/dt=${DAY}/segment-small.warc.gz`, ["warc"]);
  const hours: number[] = [];
  const services = {
    ...crawl.services,
    async compactHour(day: string, hour: number) {
      assert.equal(day, DAY);
      hours.push(hour);
      if (hour !== 13) return;
      await put(crawl, `pages/dt=${DAY}/large-of-all.warc.gz`, ["warc"]);
      await crawl.services.files.remove(`pages/dt=${DAY}/segment-small.warc.gz`);
    },
  };
  for (let runs = 0; runs < 2; runs++) {
    await runPhase(services, partitionsPhase);
    assert.deepEqual(
      hours.toSorted((one, other) => one - other),
      Array.from({ length: 24 }, (_, hour) => hour),
    );
    assert.deepEqual(
      (await manifest(crawl, "pages")).files.map(({ name }) => name),
      ["large-of-all.warc.gz"],
    );
  }
});

test("a day without output is closed as well, over nothing", async (context) => {
  const crawl = await givenCrawl(context);
  await close(crawl);
  for (const family of families) assert.deepEqual((await manifest(crawl, family)).files, []);
});

test("a day that is not closed keeps its files for its own closing", () => {
  const folder = (day: string, files: string[], closed?: string[]) => ({
    day,
    found: files.map((name) => `documents/dt=${day}/${name}`),
    manifest: closed && {
      table: "documents",
      day,
      schemaVersion: 1,
      rows: 0,
      bytes: 0,
      files: closed.map((name) => ({ name, rows: 0, bytes: 0, sha256: "" })),
    },
  });
  const today = folder("2026-12-03", ["part-x.ndjson.gz", "manifest.json", "schema.json"]);
  const earlier = [
    folder("2026-12-02", ["part-y.ndjson.gz"]),
    folder("2026-12-01", ["part-z.ndjson.gz"], ["part-z.ndjson.gz", "../dt=2026-11-30/part-w.ndjson.gz"]),
    folder(
      "2026-11-30",
      ["part-v.ndjson.gz", "part-w.ndjson.gz", "part-u.ndjson.gz", "part-u.ndjson.gz.open"],
      ["part-v.ndjson.gz"],
    ),
  ];
  assert.deepEqual(filesToClose("documents", today, earlier), ["documents/dt=2026-12-03/part-x.ndjson.gz"]);
  assert.deepEqual(
    wholeFiles("pages", ["pages/dt=1/segment-a.cdxj", "pages/dt=1/segment-a.warc.gz", "pages/dt=1/segment-a.warc.gz.open"]),
    [],
  );
  assert.deepEqual(namedBy("documents", "2026-12-01", earlier[1]!.manifest!), [
    "documents/dt=2026-12-01/part-z.ndjson.gz",
    "documents/dt=2026-11-30/part-w.ndjson.gz",
  ]);
});

test("a file that has gone or has other lines than it had is told, and nothing is written in its place", async (context) => {
  const crawl = await givenCrawl(context);
  const { files } = crawl.services;
  const [path, other] = ["a", "b"].map((name) => `documents/dt=${DAY}/part-${name}.ndjson.gz`) as [string, string];
  await assert.rejects(withoutLines(files, { path, count: 1, superfluous: [0] }), /part-a\.ndjson\.gz has gone/);
  await put(crawl, path, [document("u1", 1)]);
  const parts = [
    { path, count: 2, superfluous: [] },
    { path: other, count: 1, superfluous: [] },
  ];
  await assert.rejects(joined(files, DAY, parts), ({ cause }: Error) => /had 2 lines and has 1/.test(String(cause)));
  assert.deepEqual(
    (await files.list("documents")).map(({ name }) => name),
    [path],
  );
});

test("each step has a name of its own, and a worker knows it", () => {
  const steps = [
    ...[segmentHours, compactHours, chooseFiles, readPlaces, findSuperfluous, gatherFacts],
    ...[closeDocuments, closeSegments, closePartition],
  ];
  assert.equal(new Set(steps.map(({ name }) => name)).size, steps.length);
  assert.deepEqual(new Set(partitionsPhase.definitions), new Set(steps));
});
