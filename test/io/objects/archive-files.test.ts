// Do segments keep what was acknowledged, share their syncs, roll when they should, and survive failures of the disk?
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseWarcRecord } from "../../../core/warc/read.ts";
import { type FileArchiveOptions, fileArchive, readStored } from "../../../io/objects/archive-files.ts";
import { realFiles } from "../../../io/objects/file-layer.ts";
import type { Repair } from "../../../io/objects/repair.ts";
import type { Archive, ArchiveRecord, StoredAt } from "../../../ports/archive.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import { givenClock, givenRandom, numbers, page, warcinfo } from "./given.ts";
import { type Operation, type PowerCutFiles, powerCutFiles } from "./power-cut-files.ts";
import { wholeSegments } from "./whole-files.ts";

const folder = "/data/pages";

function options(files: PowerCutFiles, changes: Partial<FileArchiveOptions> = {}): FileArchiveOptions {
  return { folder, files, clock: givenClock(), random: givenRandom(1), durability: "power", warcinfo, ...changes };
}

const bytesOf = (record: ArchiveRecord) => Buffer.concat(record.bytes);
const segmentsOf = (files: PowerCutFiles) => files.paths().filter((path) => path.endsWith(".warc.gz"));

test("records come back as they were, from the open segment and from the closed one", async () => {
  const files = powerCutFiles();
  const archive = await fileArchive(options(files));
  const records = page("a", "x".repeat(300_000)); // large enough for the thread pool
  const places = await archive.append(records);
  assert.match(places[0]!.segment, /^dt=2024-02-29\/segment-20240229T120000-[\w-]{8}\.warc\.gz$/);
  for (const [index, place] of places.entries()) assert.deepEqual(await archive.read(place), bytesOf(records[index]!));
  assert.deepEqual(await archive.append([]), []);
  await archive.close();
  assert.deepEqual(Buffer.from(await readStored(folder, files, places[1]!)), bytesOf(records[1]!));
  assert.deepEqual(await wholeSegments(files), ["http://example.com/a"]);
});

test("64 concurrent appends share one sync, and resolve only after it", async () => {
  const files = powerCutFiles();
  const archive = await fileArchive(options(files));
  await archive.append(page("first"));
  const before = files.counts.datasync;
  const places = await Promise.all(Array.from({ length: 64 }, (_, index) => archive.append(page(`p${index}`))));
  assert.equal(files.counts.datasync - before, 1);
  const survived = files.afterPowerCut(() => 0); // nothing unsynced is left
  for (const [index, [, place]] of places.entries()) {
    const record = parseWarcRecord(await readStored(folder, survived, place!));
    assert.ok(record.ok && Buffer.from(record.http!.body).toString() === `page p${index}`);
  }
  await archive.close();
});

test("what arrives during a sync waits for the next, and never resolves with the one under way", async () => {
  const files = powerCutFiles();
  const archive = await fileArchive(options(files));
  await archive.append(page("first"));
  const before = files.counts.datasync;
  const late: Promise<StoredAt[]>[] = [];
  let lateSettled = 0;
  files.failWhen((operation) => {
    for (let index = 0; operation === "datasync" && late.length < 3; index++) late.push(archive.append(page(`late${index}`)));
    return false;
  });
  const second = archive.append(page("second")).then(() => assert.equal(lateSettled, 0));
  void second.then(() => Promise.all(late));
  await second;
  for (const each of late) void each.then(() => lateSettled++);
  await Promise.all(late);
  assert.equal(files.counts.datasync - before, 2);
  await archive.close();
});

test("durability process: nothing is synced before the answer", async () => {
  const files = powerCutFiles();
  const archive = await fileArchive(options(files, { durability: "process" }));
  await archive.append(page("a"));
  assert.equal(files.counts.datasync + files.counts.syncFolder, 0);
  await archive.close();
  assert.deepEqual(await wholeSegments(files), ["http://example.com/a"]);
});

test("a segment ends by its size, by its age, and with its day; each opens with warcinfo", async () => {
  const files = powerCutFiles();
  const clock = givenClock(Date.UTC(2024, 1, 29, 23, 30));
  const archive = await fileArchive(options(files, { clock, segmentBytes: 1500, segmentMs: 60_000 }));
  const noise = numbers(3);
  const body = Buffer.from(Array.from({ length: 1500 }, () => noise() * 256));
  await archive.append(page("a", body));
  await archive.append(page("b")); // the first was full
  assert.equal(segmentsOf(files).length, 2);
  clock.advance(60_000);
  await archive.append(page("c")); // the second was old
  assert.equal(segmentsOf(files).length, 3);
  await archive.append(page("d")); // the third is neither
  assert.equal(segmentsOf(files).length, 3);
  clock.advance(30 * 60_000);
  const [place] = await archive.append(page("e"));
  assert.match(place!.segment, /^dt=2024-03-01\//);
  await archive.close();
  assert.equal(clock.timers, 0);
  assert.equal((await wholeSegments(files)).length, 5);
});

test("an idle segment is closed when its time has come, without a new append", async () => {
  const files = powerCutFiles();
  const clock = givenClock();
  const archive = await fileArchive(options(files, { clock, segmentMs: 1000 }));
  await archive.append(page("a"));
  assert.ok(files.paths().some((path) => path.endsWith(".warc.gz.open")));
  clock.advance(1000);
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  assert.ok(!files.paths().some((path) => path.endsWith(".open")));
  await archive.close();
});

test("after close an append is refused", async () => {
  const archive = await fileArchive(options(powerCutFiles()));
  await archive.close();
  await assert.rejects(archive.append(page("a")), StoreError);
});

test("places that are none are refused with StoreError, whatever they are", async () => {
  const files = powerCutFiles();
  const archive = await fileArchive(options(files));
  const [place] = await archive.append(page("a"));
  const wrong: StoredAt[] = [
    { ...place!, segment: "../../etc/passwd" },
    { ...place!, segment: "dt=2024-02-29/segment-none.warc.gz" },
    { ...place!, offset: place!.offset + 1 },
    { ...place!, length: place!.length - 1 },
    { ...place!, offset: 1e9 },
  ];
  for (const at of wrong) await assert.rejects(archive.read(at), StoreError);
  await archive.close();
});

const failures: { name: string; operation: Operation; segments: number }[] = [
  { name: "a failed write is taken back and the segment goes on", operation: "write", segments: 1 },
  { name: "a failed sync ends the segment: it is not trusted any more", operation: "datasync", segments: 2 },
];
for (const { name, operation, segments } of failures)
  test(name, async () => {
    const files = powerCutFiles();
    const archive = await fileArchive(options(files));
    const before = await archive.append(page("before"));
    files.failWhen((each, path) => each === operation && path.endsWith(".warc.gz"));
    const failed = await Promise.allSettled(["x", "y"].map((each) => archive.append(page(each))));
    for (const result of failed) assert.ok(result.status === "rejected" && result.reason instanceof StoreError);
    files.failWhen(() => false);
    const after = await archive.append(page("after"));
    assert.equal(segmentsOf(files).length, segments);
    const survived = files.afterPowerCut(() => 0);
    for (const place of [...before, ...after]) await readStored(folder, survived, place);
    await archive.close();
    await fileArchive(options(files, { random: givenRandom(2) }));
    assert.deepEqual((await wholeSegments(files)).sort(), ["http://example.com/after", "http://example.com/before"]);
  });

test("a failed write that cannot be taken back ends the segment", async () => {
  const files = powerCutFiles();
  const archive = await fileArchive(options(files));
  await archive.append(page("before"));
  files.failWhen((operation) => operation === "write" || operation === "truncate");
  await assert.rejects(archive.append(page("x")), StoreError);
  files.failWhen(() => false);
  await archive.append(page("after"));
  assert.equal(segmentsOf(files).length, 2);
  await archive.close();
});

test("a segment that cannot be begun leaves nothing, and the next append tries again", async () => {
  for (const operation of ["makeFolder", "create", "syncFolder"] as const) {
    const files = powerCutFiles();
    const archive = await fileArchive(options(files));
    let calls = 0;
    files.failWhen((each) => each === operation && ++calls === 2 - Number(operation === "makeFolder"));
    await assert.rejects(archive.append(page("x")), StoreError, operation);
    assert.deepEqual(files.paths(), [], operation);
    files.failWhen(() => false);
    await archive.append(page("a"));
    await archive.close();
    assert.deepEqual(await wholeSegments(files), ["http://example.com/a"]);
  }
});

test("an index that cannot be written fails no append and is made anew at the next start", async () => {
  const files = powerCutFiles();
  const archive = await fileArchive(options(files));
  await archive.append(page("a"));
  files.failWhen((operation, path) => operation === "write" && path.endsWith(".cdxj"));
  await archive.append(page("b"));
  files.failWhen(() => false);
  await archive.append(page("c"));
  await archive.close();
  await fileArchive(options(files));
  assert.deepEqual(
    await wholeSegments(files),
    ["a", "b", "c"].map((name) => `http://example.com/${name}`),
  );
});

test("a start touches only segments that were not closed, and says what it dropped", async () => {
  const files = powerCutFiles();
  const closed = await fileArchive(options(files));
  await closed.append(page("closed"));
  await closed.close();
  const killed = await fileArchive(options(files, { random: givenRandom(2) }));
  const [, kept] = await killed.append(page("kept"));
  const [lost] = await killed.append(page("lost"));
  const path = join(folder, lost!.segment);
  const file = await files.open(path);
  await file.truncate(lost!.offset + lost!.length - 1);
  const reports: Repair[][] = [];
  await fileArchive(options(files, { repaired: (repairs) => reports.push(repairs) }));
  const keptBytes = kept!.offset + kept!.length;
  assert.deepEqual(reports, [
    [{ segment: lost!.segment, keptBytes, droppedBytes: lost!.length - 1, droppedRecords: 1, lostRecords: 1 }],
  ]);
  assert.deepEqual((await wholeSegments(files)).sort(), ["http://example.com/closed", "http://example.com/kept"]);
});

// ---- the law: what was acknowledged is there after a power cut, and nothing torn is

interface Acknowledged {
  place: StoredAt;
  bytes: Buffer;
}

async function appendAtRandom(archive: Archive, random: () => number, acknowledged: Acknowledged[]): Promise<boolean> {
  const task = async (name: string) => {
    for (let turn = 0; turn < 4; turn++) {
      const body = Buffer.from(Array.from({ length: random() * 600 }, () => random() * 256));
      const records = page(`${name}-${turn}`, body).slice(random() < 0.2 ? 1 : 0);
      const places = await archive.append(records);
      for (const [index, place] of places.entries()) acknowledged.push({ place, bytes: bytesOf(records[index]!) });
      for (let wait = random() * 12; wait > 0; wait--) await Promise.resolve();
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: 1 + random() * 6 }, (_, index) => task(`t${index}`)));
  return ended.every(({ status }) => status === "fulfilled");
}

/** False where the power ended it, in its repair perhaps. */
async function oneRun(given: FileArchiveOptions, random: () => number, acknowledged: Acknowledged[]): Promise<boolean> {
  try {
    const archive = await fileArchive(given);
    const whole = await appendAtRandom(archive, random, acknowledged);
    if (random() < 0.3) await archive.close();
    return whole;
  } catch (error) {
    assert.ok(error instanceof StoreError);
    return false;
  }
}

test("power cuts at random points: every acknowledged record is readable afterwards, and no file holds a torn one", async (t) => {
  let [acknowledgedRecords, cuts, dropped] = [0, 0, 0];
  const repaired = (repairs: Repair[]) => {
    for (const { droppedBytes } of repairs) dropped += droppedBytes;
  };
  for (let seed = 1; seed <= 300; seed++) {
    const random = numbers(seed);
    let files = powerCutFiles();
    const acknowledged: Acknowledged[] = [];
    for (let run = 0; run < 2; run++) {
      files.cutAfter(random() * 60);
      const given = options(files, { random: givenRandom(seed * 10 + run), segmentBytes: 4000, repaired });
      if (!(await oneRun(given, random, acknowledged))) cuts++;
      files = files.afterPowerCut(random);
    }
    const archive = await fileArchive(options(files, { random: givenRandom(seed * 10 + 5), repaired }));
    for (const { place, bytes } of acknowledged) assert.deepEqual(await archive.read(place), bytes, `seed ${seed}`);
    await wholeSegments(files);
    acknowledgedRecords += acknowledged.length;
  }
  assert.ok(cuts >= 200 && acknowledgedRecords > 1000 && dropped > 10_000, "the cuts hit nothing");
  t.diagnostic(`${cuts} cuts, ${acknowledgedRecords} records acknowledged, ${dropped} torn bytes dropped`);
});

test("the real file system: append, read, unclean end, repair", async () => {
  const real = join(await mkdtemp(join(tmpdir(), "gleaner-")), "data", "pages");
  const given = { ...options(powerCutFiles()), folder: real, files: realFiles };
  try {
    const killed = await fileArchive(given);
    const places = await Promise.all(Array.from({ length: 8 }, (_, index) => killed.append(page(`p${index}`))));
    const last = places.at(-1)!.at(-1)!;
    const file = await realFiles.open(join(real, last.segment));
    await file.write([Buffer.from([0x1f, 0x8b, 8]), Buffer.alloc(5)], last.offset + last.length);
    await file.close();
    const reports: Repair[][] = [];
    const archive = await fileArchive({ ...given, random: givenRandom(2), repaired: (repairs) => reports.push(repairs) });
    assert.deepEqual(
      reports.flat().map(({ droppedBytes, droppedRecords }) => [droppedBytes, droppedRecords]),
      [[8, 1]],
    );
    for (const [, place] of places) assert.ok(parseWarcRecord(await archive.read(place!)).ok);
    await archive.close();
    await killed.close();
  } finally {
    await rm(join(real, "..", ".."), { recursive: true });
  }
});
