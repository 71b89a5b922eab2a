// Does compaction lose or double nothing, wherever it is cut off, and does a reader find every record between any two of its steps?
import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { headerOf, parseWarcRecord } from "../../../../core/warc/read.ts";
import { gcsArchive } from "../../../../io/objects/gcs/archive.ts";
import { COMPOSE_PARTS_MAX } from "../../../../io/objects/gcs/bucket.ts";
import { type CompactionOptions, compactSegments } from "../../../../io/objects/gcs/compact-segments.ts";
import { readStoredObject } from "../../../../io/objects/gcs/read-stored.ts";
import { memberAt } from "../../../../io/objects/gzip-members.ts";
import type { StoredAt } from "../../../../ports/archive.ts";
import { type RecordTable, StoreError } from "../../../../ports/versioned-table.ts";
import type { SegmentPlace } from "../../../../schemas/segment.ts";
import { type GivenClock, givenClock, givenRandom, page, warcinfo } from "../given.ts";
import { namesIn, segmentTable } from "./given-bucket.ts";
import { type MemoryBucket, memoryBucket } from "./memory-bucket.ts";

const WRITTEN_AT = Date.UTC(2024, 1, 29, 12, 30);
const HOUR_MS = 60 * 60 * 1000;

interface Kept {
  name: string;
  place: StoredAt;
  bytes: Buffer;
}

interface World {
  bucket: MemoryBucket;
  segments: RecordTable<SegmentPlace>;
  kept: Kept[];
  clock: GivenClock;
  /** Called before and after each change of bucket or table. */
  meet: { now: (when: "before" | "after") => Promise<void> };
}

/** So many segments, of two pages each, written by two workers; the given ones without their index. */
async function world(segmentsWritten: number, withoutIndex: readonly number[] = []): Promise<World> {
  const meet: World["meet"] = { now: async () => {} };
  const bucket = memoryBucket(WRITTEN_AT, (when) => meet.now(when));
  const table = segmentTable();
  const segments: RecordTable<SegmentPlace> = {
    ...table,
    async insertIfAbsent(rows) {
      await meet.now("before");
      const inserted = await table.insertIfAbsent(rows);
      await meet.now("after");
      return inserted;
    },
  };
  const clock = givenClock(WRITTEN_AT);
  const kept: Kept[] = [];
  const archives = [1, 2].map((seed) =>
    gcsArchive({ bucket, folder: "pages", segments, clock, random: givenRandom(seed), warcinfo, batchBytes: 1 }),
  );
  for (let each = 0; each < segmentsWritten; each++) {
    const records = ["a", "b"].flatMap((half) => page(`${each}${half}`));
    const places = await archives[each % 2]!.append(records);
    for (const [at, place] of places.entries())
      kept.push({ name: `${each}${at < 2 ? "a" : "b"}`, place, bytes: Buffer.concat(records[at]!.bytes) });
    if (withoutIndex.includes(each)) await archives[each % 2]!.close();
    const index = `pages/${places[0]!.segment.replace(".warc.gz", ".cdxj")}`;
    if (withoutIndex.includes(each)) await bucket.remove({ name: index });
    if (withoutIndex.includes(each))
      archives[each % 2] = gcsArchive({
        bucket,
        folder: "pages",
        segments,
        clock,
        random: givenRandom(10 + each),
        warcinfo,
        batchBytes: 1,
      });
    clock.advance(1000);
  }
  for (const archive of archives) await archive.close();
  clock.advance(2 * HOUR_MS);
  return { bucket, segments, kept, clock, meet };
}

function options({ bucket, segments, clock }: World, changes: Partial<CompactionOptions> = {}): CompactionOptions {
  return { bucket, folder: "pages", segments, clock, random: givenRandom(99), day: "2024-02-29", ...changes };
}

async function assertAllRead({ bucket, segments, kept }: World): Promise<void> {
  for (const { place, bytes } of kept)
    assert.deepEqual(Buffer.from(await readStoredObject({ bucket, folder: "pages", segments }, place)), bytes);
}

/** Every object is whole records, opened by warcinfo; every response has one line in one index, at its place. URLs of the responses. */
function wholeObjects({ objects }: MemoryBucket): string[] {
  const urls: string[] = [];
  for (const [name, bytes] of objects) {
    if (!name.endsWith(".warc.gz")) continue;
    const index = objects.get(name.replace(".warc.gz", ".cdxj"));
    const lines = Buffer.from(index ?? "")
      .toString()
      .split("\n")
      .slice(0, -1);
    for (let at = 0; at < bytes.length; ) {
      const member = memberAt(bytes.subarray(at));
      assert.ok(typeof member !== "string", `${name} is ${member} at ${at}`);
      const record = parseWarcRecord(gunzipSync(bytes.subarray(at, at + member.length)));
      assert.ok(record.ok && (at > 0 || record.type === "warcinfo"));
      if (record.type === "response") {
        const { url, offset, length, filename } = JSON.parse(lines.shift()?.replace(/^\S+ \d{14} /, "") ?? "{}");
        assert.deepEqual([url, offset, length], [headerOf(record.headers, "WARC-Target-URI"), `${at}`, `${member.length}`]);
        assert.ok(name.endsWith(filename));
        urls.push(url);
      }
      at += member.length;
    }
    assert.deepEqual(lines, [], `${name} has more index than records`);
  }
  return urls.sort();
}

const urlsOf = ({ kept }: World) => [...new Set(kept.map(({ name }) => `http://example.com/${name}`))].sort();
const largeIn = ({ objects }: MemoryBucket) => [...objects.keys()].filter((name) => /\/large-.*warc\.gz$/.test(name));

test("small segments become one object with one index, whose records are read under their old places", async () => {
  const given = await world(5, [1, 4]);
  const report = await compactSegments(options(given));
  assert.deepEqual([report.objects, report.segments, report.hoursTaken], [1, 5, 0]);
  const [large, ...more] = largeIn(given.bucket);
  assert.match(large!, /^pages\/dt=2024-02-29\/large-20240229T123000-[\w-]{8}\.warc\.gz$/);
  assert.deepEqual(more, []);
  assert.deepEqual(await namesIn(given.bucket), [large!.replace(".warc.gz", ".cdxj"), large]);
  assert.deepEqual(wholeObjects(given.bucket), urlsOf(given));
  await assertAllRead(given);
});

test("compacting again changes nothing", async () => {
  const given = await world(4);
  await compactSegments(options(given));
  const before = await namesIn(given.bucket);
  assert.equal((await compactSegments(options(given))).objects, 0);
  assert.deepEqual(await namesIn(given.bucket), before);
});

test(`more than ${COMPOSE_PARTS_MAX} parts are composed in two rounds, and no piece is left`, async () => {
  const given = await world(2 * COMPOSE_PARTS_MAX + 3);
  await compactSegments(options(given));
  assert.equal(given.bucket.objects.size, 2);
  assert.deepEqual(wholeObjects(given.bucket), urlsOf(given));
  await assertAllRead(given);
});

test("an object is complete at its target size; what is left over waits until its hour is over", async () => {
  const given = await world(7);
  const [, first] = [...given.bucket.objects.entries()].find(([name]) => name.endsWith(".warc.gz"))!;
  const changes = { targetBytes: first.length * 2.5 };
  const early = { ...given.clock, now: () => WRITTEN_AT + 20 * 60_000 };
  assert.deepEqual((await compactSegments(options(given, { ...changes, clock: early }))).segments, 6);
  assert.deepEqual((await compactSegments(options(given, changes))).segments, 0); // one alone is left as it is
  assert.equal(largeIn(given.bucket).length, 2);
  assert.deepEqual(wholeObjects(given.bucket), urlsOf(given));
  await assertAllRead(given);
});

test("left alone: what is young, large, of another hour or day, or not ours", async () => {
  const given = await world(3);
  const names = await namesIn(given.bucket);
  const bytes = Buffer.from("not ours");
  for (const name of ["dt=2024-02-29/segment-20240229T12.warc.gz", "dt=2024-02-29/segment-20240229T129999-x.warc.gz"])
    await given.bucket.create({ name: `pages/${name}`, bytes, contentType: "" });
  const young = { ...given.clock, now: () => WRITTEN_AT + 60_000 };
  const cases: Partial<CompactionOptions>[] = [
    { clock: young },
    { smallBytes: 100 },
    { hours: [11, 13] },
    { day: "2024-03-01" },
  ];
  for (const changes of cases) assert.equal((await compactSegments(options(given, changes))).objects, 0);
  assert.deepEqual((await namesIn(given.bucket)).length, names.length + 2);
  await assert.rejects(compactSegments(options(given, { day: "today" })), StoreError);
  assert.equal((await compactSegments(options(given))).segments, 3);
});

const CUT = "cut off here";

/** Carries out with the given number of changes, and is then cut off; false where it came to its end. */
async function cutAfter(given: World, changes: number, run: CompactionOptions): Promise<boolean> {
  let left = changes;
  given.meet.now = async () => {
    if (left-- <= 0) throw new StoreError(CUT);
  };
  try {
    await compactSegments(run);
    return false;
  } catch (error) {
    assert.equal((error as Error).message, CUT);
    return true;
  } finally {
    given.meet.now = async () => {};
  }
}

for (const parts of [3, COMPOSE_PARTS_MAX + 2])
  test(`cut off before and after each change, with ${parts} parts: nothing is lost or doubled, records are found at once`, async () => {
    const given = await world(parts, [1]);
    const start = new Map(given.bucket.objects);
    let cuts = 0;
    for (let changes = 0; ; changes += parts > 3 ? 7 : 1) {
      const fresh = await copyOf(given, start);
      if (!(await cutAfter(fresh, changes, options(fresh)))) break;
      cuts++;
      await assertAllRead(fresh);
      if (changes % 2 === 0) await cutAfter(fresh, 3, options(fresh, { random: givenRandom(7) })); // and once more
      await compactSegments(options(fresh, { random: givenRandom(8) }));
      await assertAllRead(fresh);
      assert.deepEqual(wholeObjects(fresh.bucket), urlsOf(fresh), `after ${changes} changes`);
      assert.equal(fresh.bucket.objects.size, 2, [...fresh.bucket.objects.keys()].join());
    }
    assert.ok(cuts > 20, `only ${cuts} cuts`);
  });

/** Another world in which the same was written. */
async function copyOf(given: World, objects: ReadonlyMap<string, Uint8Array>): Promise<World> {
  const empty = await world(0);
  for (const [name, bytes] of objects) await empty.bucket.create({ name, bytes, contentType: "" });
  return { ...empty, clock: given.clock, kept: given.kept };
}

test("a reader between any two steps finds its records, also where it looked before a step and reads after it", async () => {
  const given = await world(4, [2]);
  const { bucket, segments, kept } = given;
  let steps = 0;
  given.meet.now = async () => {
    steps++;
    await assertAllRead(given);
  };
  let table = segments;
  const racing = { bucket, folder: "pages", segments: { ...segments, get: (keys: readonly string[]) => table.get(keys) } };
  // looks the place up while there is no row, and reads when all is over
  let goOn = () => {};
  const over = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  table = {
    ...segments,
    async get(keys) {
      const rows = await segments.get(keys);
      table = segments;
      await over;
      return rows;
    },
  };
  const reading = readStoredObject(racing, kept[0]!.place);
  await compactSegments(options(given));
  given.meet.now = async () => {};
  goOn();
  assert.deepEqual(Buffer.from(await reading), kept[0]!.bytes);
  assert.ok(steps > 20);
});

test("two at once: one object each segment, nothing lost or doubled", async () => {
  for (let seed = 0; seed < 20; seed++) {
    const given = await world(9);
    const { length } = [...given.bucket.objects.entries()].find(([name]) => name.endsWith(".warc.gz"))![1];
    const draw = givenRandom(seed);
    given.meet.now = async () => {
      for (let turns = draw.next() * 30; turns > 0; turns--) await Promise.resolve();
    };
    const run = (own: number) => compactSegments(options(given, { targetBytes: length * 2, random: givenRandom(100 + own) }));
    await Promise.all([run(1), run(2)]);
    given.meet.now = async () => {};
    await run(3);
    assert.deepEqual(wholeObjects(given.bucket), urlsOf(given));
    await assertAllRead(given);
  }
});

test("a plan begun on a list that had grown old is dropped", async () => {
  const given = await world(3);
  const gone = { segment: "dt=2024-02-29/segment-20240229T123000-gone0000.warc.gz", generation: "1", bytes: 10 };
  const plan = { target: "dt=2024-02-29/large-20240229T123000-abcdefgh.warc.gz", parts: [gone] };
  const name = "pages/dt=2024-02-29/compaction-12.json";
  await given.bucket.create({ name, bytes: Buffer.from(JSON.stringify(plan)), contentType: "" });
  assert.equal((await compactSegments(options(given))).segments, 3);
  assert.deepEqual(wholeObjects(given.bucket), urlsOf(given));
  assert.equal(given.bucket.objects.size, 2);
});

test("a plan that is none is refused with what to do, and nothing is touched", async () => {
  for (const text of ["", "{", "[]", '{"target":"x","parts":[{"segment":"a"}]}']) {
    const given = await world(2);
    const name = "pages/dt=2024-02-29/compaction-12.json";
    await given.bucket.create({ name, bytes: Buffer.from(text), contentType: "" });
    const before = await namesIn(given.bucket);
    await assert.rejects(compactSegments(options(given)), /compaction-12\.json is no plan .* delete it/);
    assert.deepEqual(await namesIn(given.bucket), before);
  }
});

test("a segment that the table has elsewhere is not deleted", async () => {
  const given = await world(2);
  const elsewhere = { key: given.kept[0]!.place.segment, value: { object: "dt=2024-02-29/large-other.warc.gz", base: 7 } };
  await given.segments.insertIfAbsent([elsewhere]);
  await assert.rejects(
    compactSegments(options(given)),
    /is in dt=2024-02-29\/large-other\.warc\.gz from 7, not in .* nothing is deleted/,
  );
  assert.equal((await namesIn(given.bucket)).filter((name) => name.includes("/segment-")).length, 4);
});

test("an index that is not the segment's, or torn, is made anew", async () => {
  const given = await world(3);
  const broken = [(text: string) => text.replaceAll("segment-", "segment-x"), (text: string) => text.slice(0, -1), () => "x\n"];
  const indexes = [...given.bucket.objects.keys()].filter((name) => name.endsWith(".cdxj"));
  for (const [at, name] of indexes.entries()) {
    const bytes = Buffer.from(broken[at]!(Buffer.from(given.bucket.objects.get(name)!).toString()));
    await given.bucket.remove({ name });
    await given.bucket.create({ name, bytes, contentType: "" });
  }
  await compactSegments(options(given));
  assert.deepEqual(wholeObjects(given.bucket), urlsOf(given));
});
