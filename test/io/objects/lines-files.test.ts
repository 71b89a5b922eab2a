// Do line files hold whole lines only, and all that were acknowledged?
import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { type FileLinesOptions, fileLines } from "../../../io/objects/lines-files.ts";
import type { Repair } from "../../../io/objects/repair.ts";
import { StoreError } from "../../../ports/versioned-table.ts";
import { givenClock, givenRandom, numbers } from "./given.ts";
import { type PowerCutFiles, powerCutFiles } from "./power-cut-files.ts";
import { wholeLinesOf } from "./whole-files.ts";

const folder = "/data/documents";

function options(files: PowerCutFiles, changes: Partial<FileLinesOptions> = {}): FileLinesOptions {
  return { folder, files, clock: givenClock(), random: givenRandom(1), durability: "power", gzip: false, ...changes };
}

const line = (text: string) => JSON.stringify({ text });

for (const gzip of [false, true])
  test(`lines, gzip ${gzip}: concurrent appends share a sync and stand in order`, async () => {
    const files = powerCutFiles();
    const lines = await fileLines(options(files, { gzip }));
    await Promise.all([lines.append([line("a"), line("é")]), lines.append([]), lines.append([line("b")])]);
    assert.equal(files.counts.datasync, 1);
    await lines.append([line("c")]);
    await lines.close();
    const [path, ...others] = files.paths();
    assert.deepEqual(others, []);
    assert.match(path!, /^\/data\/documents\/dt=2024-02-29\/part-20240229T120000-[\w-]{8}\.ndjson/);
    assert.deepEqual(await wholeLinesOf(files), ["a", "é", "b", "c"].map(line));
    const bytes = await files.read(path!, 0, 10_000);
    if (gzip) assert.ok(bytes.length > gunzipSync(bytes).length / 3 && bytes[0] === 0x1f);
    await assert.rejects(lines.append([line("d")]), StoreError);
  });

test("each run and each day has its own part", async () => {
  const files = powerCutFiles();
  const clock = givenClock(Date.UTC(2024, 1, 29, 23, 59));
  const first = await fileLines(options(files, { clock }));
  await first.append([line("a")]);
  clock.advance(60_000);
  await first.append([line("b")]);
  await first.close();
  const second = await fileLines(options(files, { clock, random: givenRandom(2) }));
  await second.append([line("c")]);
  await second.close();
  const days = files.paths().map((path) => path.split("/")[3]);
  assert.deepEqual(days, ["dt=2024-02-29", "dt=2024-03-01", "dt=2024-03-01"]);
});

const tails: { name: string; tail: string; dropped: number }[] = [
  { name: "a cut line", tail: '{"te', dropped: 1 },
  { name: "a hole before a whole line", tail: `\0\0\0\0${line("x")}\n`, dropped: 1 },
  { name: "a line that is cut inside a character", tail: '{"text":"\xc3', dropped: 1 },
  { name: "nothing", tail: "", dropped: 0 },
];
for (const { name, tail, dropped } of tails)
  test(`after an unclean end: ${name} at the end of a part is dropped, what stood before stays`, async () => {
    const files = powerCutFiles();
    const killed = await fileLines(options(files));
    await killed.append([line("a"), line("b")]);
    const path = files.paths().find((each) => each.endsWith(".ndjson"))!;
    const keptBytes = (await files.size(path))!;
    await (await files.open(path)).write([Buffer.from(tail, "latin1")], keptBytes);
    const reports: Repair[][] = [];
    await fileLines(options(files, { repaired: (repairs) => reports.push(repairs) }));
    const [report] = reports.flat();
    assert.deepEqual([report?.keptBytes, report?.droppedBytes, report?.droppedRecords], [keptBytes, tail.length, dropped]);
    assert.deepEqual(await wholeLinesOf(files), ["a", "b"].map(line));
  });

for (const gzip of [false, true])
  test(`power cuts, gzip ${gzip}: every acknowledged line is there, and no part ends inside one`, async () => {
    let [acknowledgedLines, cuts] = [0, 0];
    for (let seed = 1; seed <= 100; seed++) {
      const random = numbers(seed);
      let files = powerCutFiles();
      const acknowledged: string[] = [];
      for (let run = 0; run < 2; run++) {
        files.cutAfter(random() * 40);
        const given = options(files, { gzip, random: givenRandom(seed * 10 + run), partBytes: 300 });
        const task = async (lines: Awaited<ReturnType<typeof fileLines>>, name: number) => {
          for (let turn = 0; turn < 4; turn++) {
            const added = Array.from({ length: 1 + random() * 3 }, (_, index) => line(`${run}-${name}-${turn}-${index}`));
            await lines.append(added);
            acknowledged.push(...added);
          }
        };
        const ended = await fileLines(given)
          .then((lines) => Promise.allSettled([0, 1, 2].map((name) => task(lines, name))))
          .catch(() => [{ status: "rejected" }]);
        if (ended.some(({ status }) => status === "rejected")) cuts++;
        files = files.afterPowerCut(random);
      }
      await fileLines(options(files, { gzip, random: givenRandom(seed * 10 + 5) }));
      const found = new Set(await wholeLinesOf(files));
      for (const each of acknowledged) assert.ok(found.has(each), `seed ${seed}: ${each} is lost`);
      acknowledgedLines += acknowledged.length;
    }
    assert.ok(cuts > 100 && acknowledgedLines > 500, "the cuts hit nothing");
  });
