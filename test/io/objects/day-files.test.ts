// Do a day's files stand whole or not at all, and come back as they were written, packed or not?
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { gunzipSync } from "node:zlib";
import fc from "fast-check";
import { localDayFiles } from "../../../io/objects/day-files.ts";
import type { DayFiles } from "../../../ports/day-files.ts";
import { StoreError } from "../../../ports/versioned-table.ts";

async function given(context: TestContext): Promise<{ files: DayFiles; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), "day-files-"));
  context.after(() => rm(folder, { recursive: true, force: true }));
  return { files: localDayFiles(folder), folder };
}

async function linesOf(files: DayFiles, name: string): Promise<string[]> {
  const all: string[] = [];
  for await (const lines of files.lines(name)) all.push(...lines);
  return all;
}

const line = fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.replaceAll("\n", " "));

for (const ending of [".ndjson", ".ndjson.gz"])
  test(`lines of a ${ending} file come back, and what was written is what is measured`, async (context) => {
    const { files } = await given(context);
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 30 }), async (lines) => {
        const given = lines.map((each) => each.toWellFormed());
        const written = await files.writeLines(`a/b/file${ending}`, given);
        assert.equal(written.rows, given.length);
        assert.deepEqual(await files.measure(`a/b/file${ending}`), written);
        const { rows: _, ...digest } = written;
        assert.deepEqual(await files.digest(`a/b/file${ending}`), digest);
        assert.deepEqual(await linesOf(files, `a/b/file${ending}`), given);
      }),
      { numRuns: 40 },
    );
  });

test("a packed file is what any gunzip reads, and the same lines give the same bytes", async (context) => {
  const { files, folder } = await given(context);
  const lines = Array.from({ length: 20_000 }, (_, at) => `{"n":${at}}`);
  const one = await files.writeLines("one.gz", lines);
  const other = await files.writeLines("other.gz", lines);
  assert.equal(one.sha256, other.sha256);
  assert.equal(gunzipSync(await readFile(join(folder, "one.gz"))).toString(), `${lines.join("\n")}\n`);
});

test("a writing that fails leaves what stood there, and nothing that is listed", async (context) => {
  const { files } = await given(context);
  await files.writeLines("day/file.gz", ["before"]);
  async function* failing() {
    yield "after";
    throw new Error("the source is gone");
  }
  await assert.rejects(files.writeLines("day/file.gz", failing()), StoreError);
  await assert.rejects(files.writeLines("day/new.gz", failing()), StoreError);
  assert.deepEqual(await linesOf(files, "day/file.gz"), ["before"]);
  assert.deepEqual(
    (await files.list("day")).map(({ name }) => name),
    ["day/file.gz"],
  );
});

test("folders are listed with all below them, by name; what is not there is empty, absent, or told by its name", async (context) => {
  const { files, folder } = await given(context);
  for (const name of ["b/2", "a/x/1", "a/0"]) await files.writeLines(name, ["x"]);
  assert.deepEqual(
    (await files.list("")).map(({ name, bytes }) => `${name} ${bytes}`),
    ["a/0 2", "a/x/1 2", "b/2 2"],
  );
  assert.deepEqual(await files.list("none"), []);
  assert.equal(await files.measure("none"), undefined);
  assert.equal(await files.digest("none"), undefined);
  await files.remove("none");
  await assert.rejects(linesOf(files, "none.gz"), (error) => error instanceof StoreError && error.message.includes("none.gz"));
  await mkdir(join(folder, "bad"));
  await writeFile(join(folder, "bad/cut.gz"), gunzipless());
  await assert.rejects(linesOf(files, "bad/cut.gz"), /cut\.gz/);
  await writeFile(join(folder, "half.ndjson"), "one\ntwo\nthr");
  assert.deepEqual(await linesOf(files, "half.ndjson"), ["one", "two"]);
});

/** The beginning of a gzip file, and no more. */
function gunzipless(): Buffer {
  return Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0x4b]);
}
