// Are events read back newest first, whole, and no further than asked, whoever writes meanwhile?
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileEvents } from "../../../io/objects/events-files.ts";
import { realFiles } from "../../../io/objects/file-layer.ts";
import { readEvents } from "../../../io/objects/read-events.ts";
import type { SkipEvent } from "../../../schemas/events.ts";
import { givenClock, givenRandom } from "./given.ts";

const DAY_MS = 86_400_000;
const skip = (at: number, hostKey = "http://a"): SkipEvent => ({
  at,
  hostKey,
  reason: "depth",
  count: 1,
  samples: ["http://a/ü"],
});
const line = (event: object): string => `${JSON.stringify(event)}\n`;

async function folderOf(context: TestContext, parts: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "events-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(parts)) {
    const path = join(folder, "skip", name);
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, text);
  }
  return folder;
}

const read = (folder: string, changes: { max?: number; bytesMax?: number; holding?: string } = {}) =>
  readEvents({ folder, files: realFiles, kind: "skip", holding: "", wanted: () => true, max: 1_000_000, ...changes });

test("events of several days and parts come newest first, while they are still being written", async (context) => {
  const folder = await folderOf(context, {});
  const clock = givenClock(Date.UTC(2024, 1, 28, 12));
  const events = await fileEvents({
    folder,
    files: realFiles,
    clock,
    random: givenRandom(1),
    durability: "process",
    partBytes: 200,
  });
  context.after(() => events.close());
  const written: number[] = [];
  for (let day = 0; day < 3; day++) {
    for (let each = 0; each < 5; each++) {
      written.push(clock.now());
      await events.publish("skip", [skip(clock.now())]);
      clock.advance(1000);
    }
    clock.advance(DAY_MS);
  }
  const found = await read(folder);
  assert.deepEqual(
    found.events.map(({ at }) => at),
    written.reverse(),
  );
  assert.equal(found.complete, true);
});

test("only what is wanted is given, at most as many as asked for", async (context) => {
  const lines = Array.from({ length: 100 }, (_, at) => line(skip(at, at % 2 === 0 ? "http://even" : "http://odd")));
  const folder = await folderOf(context, { "dt=2024-02-29/part-1.ndjson": lines.join("") });
  const wanted = (event: SkipEvent) => event.at < 90;
  const found = await readEvents({ folder, files: realFiles, kind: "skip", holding: '"http://even"', wanted, max: 3 });
  assert.deepEqual(
    found.events.map(({ at }) => at),
    [88, 86, 84],
  );
});

test("a file larger than one read is put together line by line, bytes of one character included", async (context) => {
  const lines = Array.from({ length: 30_000 }, (_, at) => line(skip(at)));
  const folder = await folderOf(context, { "dt=2024-02-29/part-1.ndjson": lines.join("") });
  const found = await read(folder);
  assert.equal(found.events.length, lines.length);
  assert.ok(found.events.every(({ at, samples }, index) => at === lines.length - 1 - index && samples[0] === "http://a/ü"));
});

test("what is not a whole event is passed over: a line half written, damage, another shape", async (context) => {
  const text = [
    "\0\0\n",
    line(skip(1)),
    "not json\n",
    line({ at: "x" }),
    "x".repeat(3_000_000),
    "\n",
    line(skip(2)),
    line(skip(3)).slice(0, -9),
  ];
  const folder = await folderOf(context, {
    "dt=2024-02-29/part-1.ndjson": text.join(""),
    "dt=2024-02-29/part-1.ndjson.open": "",
    "dt=2024-03-01/part-2.ndjson": "",
  });
  assert.deepEqual(
    (await read(folder)).events.map(({ at }) => at),
    [2, 1],
  );
});

test("no folder holds no events", async (context) => {
  assert.deepEqual(await read(await folderOf(context, {})), { events: [], complete: true });
});

test("the look ends at its byte limit and says so", async (context) => {
  const lines = Array.from({ length: 20_000 }, (_, at) => line(skip(at)));
  const folder = await folderOf(context, { "dt=2024-02-29/part-1.ndjson": lines.join("") });
  const found = await read(folder, { bytesMax: 1 });
  assert.equal(found.complete, false);
  assert.ok(found.events.length > 0 && found.events.length < lines.length);
  assert.equal(found.events[0]?.at, lines.length - 1);
});
