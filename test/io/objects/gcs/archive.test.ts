// Does a worker's archive write one object a commit, answer only when it stands, and put up with indexes that fail and names that are taken?
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseWarcRecord } from "../../../../core/warc/read.ts";
import { type GcsArchiveOptions, gcsArchive } from "../../../../io/objects/gcs/archive.ts";
import type { ObjectBucket } from "../../../../io/objects/gcs/bucket.ts";
import { GATHER_MS } from "../../../../io/objects/gcs/gathered-commit.ts";
import { gcsLines } from "../../../../io/objects/gcs/lines.ts";
import { memberAt } from "../../../../io/objects/gzip-members.ts";
import type { StoredAt } from "../../../../ports/archive.ts";
import { StoreError } from "../../../../ports/versioned-table.ts";
import { type GivenClock, givenClock, givenRandom, numbers, page, warcinfo } from "../given.ts";
import { namesIn, segmentTable } from "./given-bucket.ts";
import { memoryBucket } from "./memory-bucket.ts";

const NOW = Date.UTC(2024, 1, 29, 12);

interface Given extends GcsArchiveOptions {
  clock: GivenClock;
}

function given(bucket: ObjectBucket, changes: Partial<GcsArchiveOptions> = {}): Given {
  const own = { bucket, folder: "pages", segments: segmentTable(), random: givenRandom(1), warcinfo };
  return { ...own, ...changes, clock: givenClock(NOW) };
}

/** Runs what is due without a clock: compression, and whatever follows. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const segmentsIn = async (bucket: ObjectBucket) =>
  (await namesIn(bucket, "pages/")).filter((name) => name.endsWith(".warc.gz"));

test("64 appends within the time of a commit share one object; nothing is written before that time", async () => {
  const bucket = memoryBucket(NOW);
  const options = given(bucket);
  const archive = gcsArchive(options);
  const appends = Array.from({ length: 64 }, (_, at) => archive.append(page(`p${at}`)));
  await settled();
  options.clock.advance(GATHER_MS - 1);
  await settled();
  assert.deepEqual(await namesIn(bucket), []);
  options.clock.advance(1);
  const places = await Promise.all(appends);
  await archive.close();
  const [index, segment, ...more] = await namesIn(bucket);
  assert.deepEqual(more, []);
  assert.match(segment!, /^pages\/dt=2024-02-29\/segment-20240229T120000-[\w-]{8}\.warc\.gz$/);
  assert.equal(index, segment!.replace(".warc.gz", ".cdxj"));
  assert.equal(Buffer.from(bucket.objects.get(index!)!).toString().split("\n").length, 65);
  for (const [at, [, place]] of places.entries()) {
    const record = parseWarcRecord(await archive.read(place!));
    assert.ok(record.ok && Buffer.from(record.http!.body).toString() === `page p${at}`);
  }
  assert.equal(options.clock.timers, 0);
});

test("a segment opens with the warcinfo of its own name", async () => {
  const bucket = memoryBucket(NOW);
  const archive = gcsArchive(given(bucket, { batchRecords: 1 }));
  const [place] = await archive.append(page("a"));
  await archive.close();
  const opening = memberAt(bucket.objects.get(`pages/${place!.segment}`)!);
  assert.ok(typeof opening !== "string" && opening.length === place!.offset);
  const record = parseWarcRecord(opening.bytes);
  assert.ok(record.ok && record.type === "warcinfo");
  const named = record.headers.find(([name]) => name === "WARC-Filename")?.[1];
  assert.equal(named, place!.segment.replace(/.*\//, ""));
});

const noise = numbers(3);
const heavy = Buffer.from(Array.from({ length: 1000 }, () => noise() * 256));
const limits: { name: string; changes: Partial<GcsArchiveOptions>; appends: number }[] = [
  { name: "bytes", changes: { batchBytes: 2200 }, appends: 2 },
  { name: "records", changes: { batchRecords: 6 }, appends: 3 },
];
for (const { name, changes, appends } of limits)
  test(`enough ${name} are committed at once, without waiting`, async () => {
    const bucket = memoryBucket(NOW);
    const options = given(bucket, changes);
    const archive = gcsArchive(options);
    const done: Promise<StoredAt[]>[] = [];
    for (let at = 1; at <= appends; at++) {
      assert.deepEqual(await namesIn(bucket), []);
      done.push(archive.append(page(`p${at}`, heavy)));
      await settled();
    }
    assert.equal((await segmentsIn(bucket)).length, 1);
    await Promise.all(done);
    await archive.close();
    assert.equal(options.clock.timers, 0);
  });

test("what comes during an upload is the next one's; none resolves before its own segment stands", async () => {
  let goOn = () => {};
  let held: Promise<void> | undefined = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const bucket = memoryBucket(NOW, async (when) => {
    if (when === "before") await held;
  });
  const options = given(bucket);
  const archive = gcsArchive(options);
  const ended: string[] = [];
  const append = async (name: string) => {
    const appending = archive.append(page(name)).then(([place]) => {
      assert.ok(bucket.objects.has(`pages/${place!.segment}`));
      ended.push(name);
    });
    await settled();
    options.clock.advance(GATHER_MS);
    await settled();
    return appending;
  };
  const appends = [append("first")];
  for (let at = 0; at < 5; at++) {
    await settled();
    appends.push(append(`late${at}`));
  }
  for (let turn = 0; turn < 10; turn++) await settled();
  assert.deepEqual(ended, []);
  held = undefined;
  goOn();
  await Promise.all(appends);
  await archive.close();
  assert.equal((await segmentsIn(bucket)).length, 2);
  assert.equal(ended[0], "first");
});

test("a segment that cannot be created fails its appends and no others", async () => {
  let fails = true;
  const bucket = memoryBucket(NOW, async () => {
    if (fails) throw new StoreError("no");
  });
  const archive = gcsArchive(given(bucket, { batchBytes: 1 }));
  await assert.rejects(archive.append(page("a")), StoreError);
  fails = false;
  const [place] = await archive.append(page("b"));
  assert.ok((await archive.read(place!)).length > 0);
  await archive.close();
});

test("an index that cannot be written fails no append, and is told of", async () => {
  let calls = 0;
  const bucket = memoryBucket(NOW, async (when) => {
    if (when === "before" && ++calls === 2) throw new StoreError("no");
  });
  const told: string[] = [];
  const archive = gcsArchive(given(bucket, { batchBytes: 1, log: (level) => told.push(level) }));
  const places = [await archive.append(page("a")), await archive.append(page("b"))];
  await archive.close();
  for (const [place] of places) assert.ok((await archive.read(place!)).length > 0);
  assert.equal((await namesIn(bucket)).length, 3);
  assert.deepEqual(told, ["warn"]);
});

test("a name that another has is left to it, and another is drawn; when all are taken it says so", async () => {
  const bucket = memoryBucket(NOW);
  const first = gcsArchive(given(bucket, { batchBytes: 1 }));
  const [kept] = await first.append(page("first"));
  await first.close();
  const before = bucket.objects.get(`pages/${kept!.segment}`);
  const second = gcsArchive(given(bucket, { batchBytes: 1 })); // draws the same first name
  const [place] = await second.append(page("second"));
  assert.notEqual(place!.segment, kept!.segment);
  assert.equal(bucket.objects.get(`pages/${kept!.segment}`), before);
  const opening = memberAt(bucket.objects.get(`pages/${place!.segment}`)!);
  assert.ok(typeof opening !== "string" && Buffer.from(opening.bytes).includes(place!.segment.replace(/.*\//, "")));
  await second.close();
  const stuck = gcsArchive(given(bucket, { batchBytes: 1, random: { next: () => 0, token: () => givenRandom(1).token() } }));
  await assert.rejects(stuck.append(page("third")), /were all taken/);
  await stuck.close();
});

test("a close commits what is gathered; afterwards nothing is taken", async () => {
  const bucket = memoryBucket(NOW);
  const archive = gcsArchive(given(bucket));
  const appending = archive.append(page("a"));
  await settled();
  await archive.close();
  assert.equal((await appending).length, 2);
  assert.equal((await namesIn(bucket)).length, 2);
  await assert.rejects(archive.append(page("b")), (error) => error instanceof StoreError && error.final);
  const lines = gcsLines({ bucket, folder: "documents", clock: givenClock(NOW), random: givenRandom(2) });
  const line = lines.append(["{}"]);
  await lines.close();
  await line;
  assert.match(
    (await namesIn(bucket, "documents/"))[0]!,
    /^documents\/dt=2024-02-29\/part-20240229T120000-[\w-]{8}\.ndjson\.gz$/,
  );
  await assert.rejects(lines.append(["{}"]), (error) => error instanceof StoreError && error.final);
});

test("names that lead out of the folder, and segments that are gone, are refused with StoreError", async () => {
  const archive = gcsArchive(given(memoryBucket(NOW)));
  const at = { offset: 0, length: 10 };
  for (const segment of ["../secret", "dt=2024-02-29/../x.warc.gz", "", "dt=2024-02-29/segment-x.cdxj"])
    await assert.rejects(archive.read({ segment, ...at }), (error) => error instanceof StoreError && error.final);
  await assert.rejects(archive.read({ segment: "dt=2024-02-29/segment-x.warc.gz", ...at }), /no object holds it any more/);
});
