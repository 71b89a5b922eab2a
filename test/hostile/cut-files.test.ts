// Output files cut short at any byte: the next start keeps what is whole, says what it dropped, and loses nothing that was acknowledged.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { fileArchive } from "../../io/objects/archive-files.ts";
import { fileEvents } from "../../io/objects/events-files.ts";
import { fileLines } from "../../io/objects/lines-files.ts";
import type { StoredAt } from "../../ports/archive.ts";
import type { LogLevel } from "../../ports/log.ts";
import { givenClock, givenRandom, page, warcinfo } from "../io/objects/given.ts";
import { type PowerCutFiles, powerCutFiles } from "../io/objects/power-cut-files.ts";
import { wholeLinesOf, wholeSegments } from "../io/objects/whole-files.ts";

type Line = [level: LogLevel, message: string, fields: Record<string, unknown>];

function given(files: PowerCutFiles, seed: number, said: Line[] = []) {
  const log = (...[level, message, fields = {}]: [LogLevel, string, Readonly<Record<string, unknown>>?]) =>
    void said.push([level, message, fields]);
  return { files, clock: givenClock(), random: givenRandom(seed), durability: "power", log } as const;
}

const pathOf = (files: PowerCutFiles, ending: string) => files.paths().find((path) => path.endsWith(ending))!;

async function cut(files: PowerCutFiles, path: string, length: number): Promise<void> {
  await (await files.open(path)).truncate(length);
}

const DROPPED = "the end of an output file was half written and is dropped; nothing of it had been acknowledged";
const LOST = "an output file lacks records that had been acknowledged: its disk has lost them";

test("a segment whose last, unacknowledged record is cut at any byte: the others are there, and one line says what went", async () => {
  const folder = "/data/pages";
  let before = powerCutFiles();
  const first = await fileArchive({ ...given(before, 1), folder, warcinfo });
  const [, kept] = (await first.append(page("kept"))) as [StoredAt, StoredAt];
  const wholeBytes = kept.offset + kept.length;
  await first.append(page("torn", "not yet acknowledged"));
  const path = pathOf(before, ".warc.gz");
  const size = (await before.size(path))!;
  const index = pathOf(before, ".cdxj");
  const indexBytes = Buffer.from(await before.read(index, 0, 9999)).indexOf(10) + 1; // its second line was not written
  for (let length = wholeBytes; length < size; length += 7) {
    const files = before.afterPowerCut(() => 0.5);
    await cut(files, path, length);
    await cut(files, index, indexBytes);
    const said: Line[] = [];
    const archive = await fileArchive({ ...given(files, 2, said), folder, warcinfo });
    assert.ok((await archive.read(kept)).length > 0);
    await archive.append(page("next"));
    await archive.close();
    const urls = (await wholeSegments(files)).sort();
    assert.deepEqual([urls[0], urls.at(-1)], ["http://example.com/kept", "http://example.com/next"]);
    const request = await requestEnd(before, path, wholeBytes);
    const droppedBytes = length >= request ? length - request : length - wholeBytes;
    const expected = droppedBytes === 0 ? [] : [["warn", DROPPED, { file: path, droppedBytes, droppedRecords: 1 }]];
    assert.deepEqual(said, expected, `cut to ${length} of ${size}`);
    before = before.afterPowerCut(() => 0.5);
  }
});

/** Where the request record of the second page ends: whole by itself, it may stay. */
async function requestEnd(files: PowerCutFiles, path: string, from: number): Promise<number> {
  const { memberAt } = await import("../../io/objects/gzip-members.ts");
  const member = memberAt(await files.read(path, from, 99_999));
  assert.ok(typeof member !== "string");
  return from + member.length;
}

test("a segment that lost what was acknowledged, which no crash of ours does, is an error that counts the records", async () => {
  const folder = "/data/pages";
  const files = powerCutFiles();
  const first = await fileArchive({ ...given(files, 1), folder, warcinfo });
  const [a] = await first.append(page("a"));
  await first.append(page("b"));
  await first.append(page("c"));
  const path = pathOf(files, ".warc.gz");
  await cut(files, path, a!.offset + a!.length + 1);
  const said: Line[] = [];
  await fileArchive({ ...given(files, 2, said), folder, warcinfo });
  assert.deepEqual(said, [["error", LOST, { file: path, lostRecords: 3 }]]);
});

for (const gzip of [false, true])
  test(`lines, gzip ${gzip}, cut at every byte of the last commit: the others stay, and one line says what went`, async () => {
    const folder = "/data/documents";
    const files = powerCutFiles();
    const lines = await fileLines({ ...given(files, 1), folder, gzip });
    await lines.append(['{"text":"kept"}', '{"text":"kept too"}']);
    const path = pathOf(files, gzip ? ".gz" : ".ndjson");
    const keptBytes = (await files.size(path))!;
    await lines.append(['{"text":"torn \u00e9"}']);
    const size = (await files.size(path))!;
    for (let length = keptBytes; length < size; length++) {
      const left = files.afterPowerCut(() => 0.5);
      await cut(left, path, length);
      const said: Line[] = [];
      const again = await fileLines({ ...given(left, 2, said), folder, gzip });
      const droppedBytes = length - keptBytes;
      const expected = droppedBytes === 0 ? [] : [["warn", DROPPED, { file: path, droppedBytes, droppedRecords: 1 }]];
      assert.deepEqual(said, expected);
      await again.append(['{"text":"next"}']);
      await again.close();
      const texts = (await wholeLinesOf(left)).map((line) => JSON.parse(line).text).sort();
      assert.deepEqual(texts, ["kept", "kept too", "next"]);
    }
  });

test("events of every kind are repaired alike, each file with a line of its own", async () => {
  const folder = "/data/events";
  const files = powerCutFiles();
  const events = await fileEvents({ ...given(files, 1), folder });
  const skip = {
    at: 1,
    source: "link",
    reason: "scope",
    hostKey: "http://a.test",
    count: 1,
    samples: ["http://a.test/"],
  };
  await events.publish("skip", [skip]);
  const path = pathOf(files, ".ndjson");
  await (await files.open(path)).write([Buffer.from('{"at":2,"so')], (await files.size(path))!);
  const said: Line[] = [];
  await fileEvents({ ...given(files, 2, said), folder });
  assert.deepEqual(said, [["warn", DROPPED, { file: path, droppedBytes: 11, droppedRecords: 1 }]]);
  assert.equal((await wholeLinesOf(files)).length, 1);
  assert.ok(path.startsWith(join(folder, "skip")));
});
