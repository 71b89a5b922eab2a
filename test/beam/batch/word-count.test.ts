import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Keyed } from "../../../beam/dofn.ts";
import { openFileSpill } from "../../../io/spill/file-spill.ts";
import type { Spill } from "../../../ports/spill.ts";
import { adding, type Count, type Group, given, groupCodec, grouping, keyedCount, startBatch, told } from "./lib.ts";

const WORDS = 1_000_000;
const DISTINCT = 5000;

test("a million words are counted over many runs on disk, by grouping and by combining", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-words-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const files = openFileSpill(folder, () => undefined);
  let runs = 0;
  const spill: Spill = {
    removeAll: files.removeAll,
    begin() {
      runs++;
      return files.begin();
    },
  };
  const words = given("words", keyedCount, function* () {
    for (let n = 0; n < WORDS; n++) yield { key: `word-${(n * 7919) % DISTINCT}`, value: { n: 1 } };
  });
  const counts = { group: new Map<string, number>(), combined: new Map<string, number>() };
  const groups = told(groupCodec, ({ key, n }: Group) => void counts.group.set(key, n), "groups");
  const sums = told(keyedCount, ({ key, value }: Keyed<Count>) => void counts.combined.set(key, value.n), "sums");
  const { job } = startBatch(
    [words, grouping, adding, groups, sums],
    (p) => {
      const { out } = p.start("Words", words, {});
      p.each("Groups", groups, {}, p.grouped("Group", grouping, {}, out).out);
      p.each("Sums", sums, {}, p.combined("Add", adding, out));
    },
    { spill, memoryBytes: 4 << 20 },
  );
  assert.deepEqual(await job.done, { state: "done" });
  assert.deepEqual([counts.group.size, counts.combined.size], [DISTINCT, DISTINCT]);
  for (const counted of Object.values(counts)) for (const n of counted.values()) assert.equal(n, WORDS / DISTINCT);
  const [, group, add] = job.progress();
  assert.ok(runs > 15, `${runs} runs`);
  assert.ok(group!.spilledBytes > 15_000_000);
  // Of a million, what is combined before it is grouped leaves one a word.
  assert.deepEqual([add!.label, add!.elementsIn], ["Add", DISTINCT]);
  assert.deepEqual(readdirSync(folder), []);
});
