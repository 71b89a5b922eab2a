// Do the parts of a table stand under names that follow from the work, and is it complete just when its manifest says so?
import assert from "node:assert/strict";
import { test } from "node:test";
import { struct, text, uint } from "../../../schemas/codec.ts";
import { type DayTable, tableFolder } from "../../../schemas/daily/day-table.ts";
import type { PartitionFile } from "../../../schemas/daily/manifest.ts";
import { closeTables, noPart, SCHEMA } from "../../../transforms/daily/close-table.ts";
import { partOf, writeDayPart } from "../../../transforms/daily/day-part.ts";
import { bundle } from "../contexts.ts";
import { DAY, type GivenCrawl, givenCrawl, manifestOf, tableRows } from "./given.ts";

interface Fruit {
  name: string;
  count: number;
}
const fruits: DayTable<Fruit> = {
  name: "fruits",
  version: 3,
  row: struct({ name: text, count: uint }),
  words: { name: "What it is.", count: "How many." },
};
const folder = tableFolder(DAY, fruits);

async function close({ services }: GivenCrawl, parts: readonly PartitionFile[]) {
  const context = bundle();
  async function* values() {
    yield* parts;
  }
  await closeTables("close", [fruits]).make({ day: DAY }, services).process("fruits", values(), context);
  return context.emitted;
}

test("the manifest names the parts with rows, bytes and digests, and the schema stands beside it", async (context) => {
  const crawl = await givenCrawl(context);
  const { files } = crawl.services;
  const write = (part: string, rows: Fruit[]) => writeDayPart(files, { day: DAY, table: fruits, part, rows });
  const second = await write("02", [{ name: "pear", count: 2 }]);
  const first = await write("01", [{ name: "apple", count: 1 }]);
  const [told] = await close(crawl, [second, await write("03", []), first, first]);
  assert.deepEqual(await tableRows(files, fruits), [
    { name: "apple", count: 1 },
    { name: "pear", count: 2 },
  ]);
  assert.equal((await manifestOf(files, fruits)).schemaVersion, 3);
  assert.deepEqual([told!.value.rows, told!.value.files], [2, 2]);
  const names = (await files.list(folder)).map(({ name }) => name.slice(folder.length + 1));
  assert.deepEqual(names, ["manifest.json", "part-01.ndjson.gz", "part-02.ndjson.gz", SCHEMA]);
  for await (const [line] of files.lines(`${folder}/${SCHEMA}`))
    assert.deepEqual(JSON.parse(line!)[1], { name: "count", type: "INT64", mode: "REQUIRED", description: "How many." });
});

test("what an earlier try left is gone: a part that has no rows now, and one that is not told any more", async (context) => {
  const crawl = await givenCrawl(context);
  const { files } = crawl.services;
  for (const part of ["01", "02"])
    await writeDayPart(files, { day: DAY, table: fruits, part, rows: [{ name: "old", count: 9 }] });
  await close(crawl, [await writeDayPart(files, { day: DAY, table: fruits, part: "01", rows: [] })]);
  assert.deepEqual(await tableRows(files, fruits), []);
  assert.ok((await files.list(folder)).every(({ name }) => partOf(name) === undefined));
});

test("a table without any part is closed over nothing", async (context) => {
  const crawl = await givenCrawl(context);
  await close(crawl, [noPart]);
  assert.deepEqual((await manifestOf(crawl.services.files, fruits)).files, []);
});

test("a row that is none never comes into a file", async (context) => {
  const { files } = (await givenCrawl(context)).services;
  const rows = [{ name: "plum", count: -1 }];
  await assert.rejects(writeDayPart(files, { day: DAY, table: fruits, part: "01", rows }), /fruits\.count: not a uint/);
  assert.deepEqual(await files.list(folder), []);
});

test("parts are known by their names", () => {
  assert.deepEqual([`${folder}/part-3f.ndjson.gz`, "manifest.json", "part-1.txt"].map(partOf), ["3f", undefined, undefined]);
});
