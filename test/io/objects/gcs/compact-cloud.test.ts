// Does compaction hold on an emulator, where calls fail on the way, and does another's reader find our records in what it makes?
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { gcsArchive } from "../../../../io/objects/gcs/archive.ts";
import { COMPOSE_PARTS_MAX } from "../../../../io/objects/gcs/bucket.ts";
import { compactSegments } from "../../../../io/objects/gcs/compact-segments.ts";
import { cloudTests } from "../../../emulators/cloud-tests.ts";
import { type HttpFault, startHttpFaultProxy } from "../../../emulators/http-fault-proxy.ts";
import { page, warcinfo } from "../given.ts";
import { pythonWithWarcio } from "../warcio.ts";
import { namesIn, newBucket, quickClock, random, segmentTable } from "./given-bucket.ts";

const reader = `
import sys
from warcio.archiveiterator import ArchiveIterator
with open(sys.argv[1], "rb") as stream:
    records = ArchiveIterator(stream, check_digests="raise")
    for record in records:
        record.content_stream().read()
        print(record.rec_type, record.rec_headers["WARC-Target-URI"], records.get_record_offset())
`;

const FAULTS: readonly HttpFault[] = [
  { kind: "lose-answer", status: "reset" },
  { kind: "refuse", status: 503 },
  { kind: "double" },
];
const SEGMENTS = COMPOSE_PARTS_MAX + 3;

await cloudTests({ storage: true }, (emulators) => {
  test("segments on an emulator become one object, through lost, refused and doubled calls; warcio reads it", async (t) => {
    let faulty = false;
    const proxy = await startHttpFaultProxy({
      target: emulators().endpoint("storage"),
      // a compose that is doubled replaces itself on the emulator, which heeds no precondition there
      faults: ({ method, count }) =>
        faulty && (count % 3 === 0 || method === "objects.compose")
          ? FAULTS[count % (method === "objects.compose" ? 2 : 3)]
          : undefined,
    });
    t.after(() => proxy.stop());
    const bucket = await newBucket(proxy.endpoint);
    const segments = segmentTable();
    const stored = { bucket, folder: "pages", segments, random };
    const archive = gcsArchive({ ...stored, clock: quickClock(), warcinfo, batchBytes: 1 });
    const records = Array.from({ length: SEGMENTS }, (_, at) => page(`p${at}`));
    const places = [];
    for (const each of records) places.push(...(await archive.append(each)));
    await archive.close();
    const day = places[0]!.segment.slice("dt=".length, "dt=2024-02-29".length);
    faulty = true;
    const later = { ...quickClock(), now: () => Date.parse(`${day}T23:59:59Z`) + 24 * 60 * 60 * 1000 };
    const report = await compactSegments({ ...stored, clock: later, day });
    faulty = false;
    assert.ok(report.segments >= SEGMENTS - 1, `${report.segments} segments`); // an hour may have ended meanwhile
    for (const [at, place] of places.entries())
      assert.deepEqual(Buffer.from(await archive.read(place)), Buffer.concat(records.flat()[at]!.bytes));
    const large = (await namesIn(bucket)).filter((name) => /\/large-.*warc\.gz$/.test(name));
    assert.equal(large.length, report.objects);
    await warcioReads(t, (await bucket.read(large[0]!))!, report.objects === 1 ? SEGMENTS : undefined);
  });
});

async function warcioReads(t: { diagnostic(text: string): void }, bytes: Uint8Array, responses?: number): Promise<void> {
  const found = pythonWithWarcio();
  if ("reason" in found) return t.diagnostic(`not read by warcio: ${found.reason}`);
  const folder = await mkdtemp(join(tmpdir(), "gleaner-compact-"));
  try {
    await writeFile(join(folder, "large.warc.gz"), bytes);
    const lines = execFileSync(found.python, ["-c", reader, join(folder, "large.warc.gz")], { encoding: "utf8" })
      .trim()
      .split("\n");
    const count = (kind: string) => lines.filter((line) => line.startsWith(`${kind} `)).length;
    if (responses !== undefined)
      assert.deepEqual([count("warcinfo"), count("response"), count("request")], Array(3).fill(responses));
  } finally {
    await rm(folder, { recursive: true });
  }
}
