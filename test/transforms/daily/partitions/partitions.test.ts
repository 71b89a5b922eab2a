// Does a closed day hold each version of a document once, each whole file in one manifest, and nothing that changes afterwards?
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { families, filesToClose, namedBy, wholeFiles } from "../../../../core/partitions/partition-files.ts";
import { partitionsPhase } from "../../../../pipelines/daily/partitions.ts";
import type { PartitionManifest } from "../../../../schemas/daily/manifest.ts";
import { chooseFiles, standingManifest } from "../../../../transforms/daily/partitions/choose-files.ts";
import { closePartition } from "../../../../transforms/daily/partitions/close-partition.ts";
import { closeDocuments, findSuperfluous, readPlaces } from "../../../../transforms/daily/partitions/documents.ts";
import { closeSegments } from "../../../../transforms/daily/partitions/segments.ts";
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

const close = (crawl: GivenCrawl, config = CONFIG) => runPhase(crawl.services, partitionsPhase, config);

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
  const facts = [
    { kind: "lines", count: 2 },
    { kind: "superfluous", line: 1 },
  ] as const;
  async function* values() {
    yield* facts;
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

test("each step has a name of its own", () => {
  const steps = [chooseFiles, readPlaces, findSuperfluous, closeDocuments, closeSegments, closePartition];
  assert.equal(new Set(steps.map(({ name }) => name)).size, steps.length);
});
