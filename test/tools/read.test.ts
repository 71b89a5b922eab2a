// Can others read what a day was closed with, and does npm run read notice when it is not that any more?
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DuckDBInstance } from "@duckdb/node-api";
import { localDayFiles } from "../../io/objects/day-files.ts";
import { partitionsPhase } from "../../pipelines/daily/partitions.ts";
import { duckdbColumns } from "../../schemas/tables/duckdb-columns.ts";
import { runRead } from "../../tools/lib/read-tool.ts";
import { pythonWithWarcio } from "../io/objects/warcio.ts";
import { inFolder, links, onStage, site } from "../lib/crawl-command.ts";
import { givenCrawl, runPhase } from "../transforms/daily/given.ts";

const PAGES = {
  "/": `<title>Home</title>${links("/a", "/b")}`,
  "/a": "<title>A</title><p>first</p>",
  "/b": "<title>B</title><p>second</p>",
};

async function read(...args: string[]) {
  let stdout = "";
  const { code, stderr } = await runRead(args, async (text) => {
    stdout += text;
  });
  return { code, stdout, stderr };
}

/** A crawl's folder whose day is closed; the day may be two, where midnight came between. */
async function closed(context: Parameters<typeof givenCrawl>[0], run: (data: string, days: string[]) => Promise<void>) {
  const { services } = await givenCrawl(context);
  await onStage({ "a.test": site(PAGES) }, async ({ report, data }) => {
    await report(0, "http://a.test/");
    const files = localDayFiles(data);
    const days = [
      ...new Set((await files.list("pages")).map(({ name }) => name.slice("pages/dt=".length, "pages/dt=".length + 10))),
    ];
    for (const day of days)
      await runPhase({ ...services, files }, partitionsPhase, { day, asOf: Date.parse(day) + 86_400_000 });
    await run(data, days);
  });
}

test("a closed day is summed up, verified, and printed as documents and captures", async (context) => {
  await closed(context, async (data) => {
    const summary = await read(data);
    assert.match(
      summary.stdout,
      /^documents\/dt=\S+: 3 documents, 1 file, \d+ bytes\n(.*\n)?pages\/dt=\S+: 3 captures, 2 files/m,
    );
    const verified = await read(data, "--verify");
    assert.deepEqual([verified.code, verified.stderr], [0, ""]);
    assert.match(verified.stdout, /3 documents, .*: as its manifest says\n/);
    const documents = (await read(data, "--documents")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(documents.map(({ title }) => title).sort(), ["A", "B", "Home"]);
    const captures = (await read(data, "--pages")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      captures
        .map(({ url }) => url)
        .sort()
        .slice(0, 2),
      ["http://a.test/", "http://a.test/a"],
    );
    assert.equal((await read(data, "--documents", "--limit", "2")).stdout.trim().split("\n").length, 2);
  });
});

test("DuckDB reads as many documents as the manifest says, and warcio as many captures", async (context) => {
  await closed(context, async (data, days) => {
    const manifests = await Promise.all(
      days.map(async (day) => {
        const of = async (family: string) =>
          JSON.parse(await readFile(join(data, family, `dt=${day}`, "manifest.json"), "utf8"));
        return { day, documents: await of("documents"), pages: await of("pages") };
      }),
    );
    for (const { day, documents } of manifests.filter((each) => each.documents.files.length > 0)) {
      const folder = join(data, "documents", `dt=${day}`);
      const columns = duckdbColumns(JSON.parse(await readFile(join(folder, "schema.json"), "utf8")));
      const instance = await DuckDBInstance.create(":memory:");
      const connection = await instance.connect();
      const names = documents.files.map(({ name }: { name: string }) => `'${join(folder, name)}'`).join(", ");
      const sql = `SELECT count(*)::INT, count(title)::INT FROM read_json([${names}], columns = ${columns}, format = 'newline_delimited')`;
      assert.deepEqual((await connection.runAndReadAll(sql)).getRows(), [[documents.rows, documents.rows]]);
      connection.closeSync();
      instance.closeSync();
    }
    const found = pythonWithWarcio();
    if ("reason" in found) return console.log(`not read by warcio: ${found.reason}`);
    const script = `
import sys
from warcio.archiveiterator import ArchiveIterator
count = 0
for name in sys.argv[1:]:
    with open(name, "rb") as stream:
        count += sum(1 for record in ArchiveIterator(stream, check_digests="raise") if record.rec_type in ("response", "revisit"))
print(count)
`;
    for (const { day, pages } of manifests) {
      const names = pages.files.flatMap(({ name }: { name: string }) =>
        name.endsWith(".warc.gz") ? [join(data, "pages", `dt=${day}`, name)] : [],
      );
      assert.equal(Number(execFileSync(found.python, ["-c", script, ...names], { encoding: "utf8" })), pages.rows);
    }
  });
});

test("a changed byte and a missing file are named", async (context) => {
  await closed(context, async (data, [day]) => {
    const { files } = JSON.parse(await readFile(join(data, "pages", `dt=${day}`, "manifest.json"), "utf8"));
    const segment = join(
      data,
      "pages",
      `dt=${day}`,
      files.find(({ name }: { name: string }) => name.endsWith(".warc.gz")).name,
    );
    const bytes = await readFile(segment);
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(segment, bytes);
    const flipped = await read(data, "--verify");
    assert.equal(flipped.code, 5);
    assert.match(flipped.stdout, /segment-\S+\.warc\.gz has \d+ bytes with the digest/);
    await rm(segment);
    const missing = await read(data, "--verify");
    assert.match(missing.stdout, /segment-\S+\.warc\.gz is missing/);
    assert.match(missing.stderr, /^read: \d files? of the output (is|are) not what was closed\n$/);
  });
});

test("what is asked wrongly is told with what is allowed", async () => {
  await inFolder(async (folder) => {
    const table: [args: string[], code: number, told: RegExp][] = [
      [[], 2, /one folder is expected, not 0/],
      [[folder, "--day", "today"], 2, /--day "today" is no day/],
      [[folder, "--limit", "-1"], 2, /--limit|ambiguous/],
      [[folder, "--documents", "--pages"], 2, /one of --verify, --documents, --pages at a time/],
      [[folder, "--all"], 2, /Unknown option '--all'/],
      [[folder], 5, /holds no crawl/],
    ];
    for (const [args, code, told] of table) {
      const end = await read(...args);
      assert.equal(end.code, code, args.join(" "));
      assert.match(end.stderr, told);
    }
  });
});
