// What must hold of every archive, wherever it keeps its records? Registers one suite for one adapter.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Archive, ArchiveRecord, StoredAt } from "../../ports/archive.ts";
import { StoreError } from "../../ports/versioned-table.ts";

export interface MadeArchive {
  archive: Archive;
  close(): Promise<void>;
}

/** `make` gives an empty archive, for each test a new one. */
export function archiveContract(name: string, make: () => Promise<MadeArchive>): void {
  const on = (situation: string, run: (archive: Archive) => Promise<void>): void => {
    test(situation, async () => {
      const made = await make();
      try {
        await run(made.archive);
      } finally {
        await made.archive.close();
        await made.close();
      }
    });
  };
  describe(`archive: ${name}`, () => {
    records(on);
    failures(on);
    on("any run of appends, some at once, gives each record a place of its own at which it is read back", model);
  });
}

type On = (situation: string, run: (archive: Archive) => Promise<void>) => void;

function records(on: On): void {
  on("appending nothing gives no place", async (archive) => {
    assert.deepEqual(await archive.append([]), []);
  });

  on("records come back as they were, byte by byte, of one piece and of several", async (archive) => {
    const given = [recordOf([0]), recordOf([1, 0, 70_000]), recordOf([400_000])];
    const places = await archive.append(given);
    for (const [at, place] of places.entries()) assert.deepEqual(await read(archive, place), bytesOf(given[at]!));
  });

  on("the records of an append lie next to each other in one segment, in their order", async (archive) => {
    const places = await archive.append([recordOf([10]), recordOf([20]), recordOf([30])]);
    for (const [at, place] of places.slice(1).entries()) {
      assert.equal(place.segment, places[at]!.segment);
      assert.equal(place.offset, places[at]!.offset + places[at]!.length);
    }
  });

  on("a segment is named by its day", async (archive) => {
    const [place] = await archive.append([recordOf([5])]);
    assert.match(place!.segment, /^dt=\d{4}-\d\d-\d\d\/segment-[\w-]+\.warc\.gz$/);
  });

  on("a hundred appends at once all get places of their own", async (archive) => {
    const given = Array.from({ length: 100 }, (_, at) => [recordOf([at * 10]), recordOf([at])]);
    const places = (await Promise.all(given.map((each) => archive.append(each)))).flat();
    assertApart(places);
    const found = await Promise.all(places.map((place) => read(archive, place)));
    assert.deepEqual(found, given.flat().map(bytesOf));
  });
}

function failures(on: On): void {
  on("a place at which no record lies is refused with StoreError", async (archive) => {
    const [place] = await archive.append([recordOf([1000]), recordOf([1000])]);
    const wrong: Partial<StoredAt>[] = [{ offset: place!.offset + 1 }, { length: place!.length - 1 }, { offset: 10 ** 12 }];
    for (const change of wrong) await assert.rejects(archive.read({ ...place!, ...change }), StoreError);
    await read(archive, place!);
  });
}

async function model(archive: Archive): Promise<void> {
  const kept: { place: StoredAt; bytes: Buffer }[] = [];
  const append = fc.array(fc.array(fc.nat(3000), { minLength: 1, maxLength: 3 }), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.array(append, { maxLength: 6 }), async (appends) => {
      await Promise.all(
        appends.map(async (sizes) => {
          const given = sizes.map(recordOf);
          const places = await archive.append(given);
          assert.equal(places.length, given.length);
          for (const [at, place] of places.entries()) kept.push({ place, bytes: bytesOf(given[at]!) });
        }),
      );
      const last = kept.slice(-3);
      for (const { place, bytes } of last) assert.deepEqual(await read(archive, place), bytes);
    }),
    { numRuns: 6 },
  );
  assertApart(kept.map(({ place }) => place));
  const found = await Promise.all(kept.map(({ place }) => read(archive, place)));
  assert.deepEqual(
    found,
    kept.map(({ bytes }) => bytes),
  );
}

function assertApart(places: readonly StoredAt[]): void {
  const sorted = [...places].sort((a, b) => (a.segment < b.segment ? -1 : a.segment > b.segment ? 1 : a.offset - b.offset));
  for (const [at, place] of sorted.slice(1).entries()) {
    const before = sorted[at]!;
    assert.ok(before.segment !== place.segment || before.offset + before.length <= place.offset, "two records overlap");
  }
}

let made = 0;

/** Of pieces of these sizes; no two are alike, and none is a WARC record, which is nothing to an archive. */
function recordOf(sizes: readonly number[]): ArchiveRecord {
  const head = Buffer.from(`record ${++made} `);
  const bytes = sizes.map((size, piece) =>
    Buffer.from(Array.from({ length: size }, (_, at) => (at * 31 + piece + made) % 251)),
  );
  const index = { url: `http://example.com/${made}`, at: 0, status: 200, mime: "text/html", digest: "-" };
  return { bytes: [head, ...bytes], index };
}

function bytesOf(record: ArchiveRecord): Buffer {
  return Buffer.concat(record.bytes);
}

async function read(archive: Archive, place: StoredAt): Promise<Buffer> {
  return Buffer.from(await archive.read(place));
}
