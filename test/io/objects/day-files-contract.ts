// What must hold of every place where a day's files stand? Registers one suite for one adapter.
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import type { DayFiles } from "../../../ports/day-files.ts";
import { StoreError } from "../../../ports/versioned-table.ts";

export interface MadeDayFiles {
  files: DayFiles;
  /** What another program writes there, and what it finds. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  found(name: string): Promise<Uint8Array>;
  close(): Promise<void>;
}

export async function allLines(files: DayFiles, name: string): Promise<string[]> {
  const all: string[] = [];
  for await (const lines of files.lines(name)) all.push(...lines);
  return all;
}

/** `make` gives an empty place, for each test a new one; `runs`: of each law. */
export function dayFilesContract(
  name: string,
  make: () => Promise<MadeDayFiles>,
  { runs = 40, grow }: { runs?: number /** Whether files are written on. */; grow: boolean },
): void {
  const on = (situation: string, check: (made: MadeDayFiles) => Promise<void>): void => {
    test(situation, async () => {
      const made = await make();
      try {
        await check(made);
      } finally {
        await made.close();
      }
    });
  };
  describe(`day files: ${name}`, () => {
    comeBack(on, runs);
    wholeOrNot(on);
    foundAndAbsent(on);
    ofOthers(on, grow);
  });
}

type On = (situation: string, check: (made: MadeDayFiles) => Promise<void>) => void;

const line = fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.replaceAll("\n", " ").toWellFormed());

function comeBack(on: On, numRuns: number): void {
  for (const ending of [".ndjson", ".ndjson.gz"]) {
    on(`lines of a ${ending} file come back, and what was written is what is measured`, async ({ files }) => {
      const name = `a/b/file${ending}`;
      const comesBack = async (given: string[]) => {
        const written = await files.writeLines(name, given);
        assert.deepEqual([written.name, written.rows], [name, given.length]);
        assert.deepEqual(await files.measure(name), written);
        const { rows: _, ...digest } = written;
        assert.deepEqual(await files.digest(name), digest);
        assert.deepEqual(await allLines(files, name), given);
        assert.deepEqual(await files.list("a"), [{ name, bytes: written.bytes }]);
      };
      await comesBack([]);
      await comesBack(["x".repeat(300_000), "", "é\u{1f600}".repeat(50_000)]);
      await fc.assert(fc.asyncProperty(fc.array(line, { maxLength: 30 }), comesBack), { numRuns });
    });
  }

  on("a packed file is what any gunzip reads, and the same lines give the same bytes", async ({ files, found }) => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `{"n":${at}}`);
    const one = await files.writeLines("one.gz", lines);
    const other = await files.writeLines("other.gz", lines);
    assert.equal(one.sha256, other.sha256);
    assert.equal(gunzipSync(await found("one.gz")).toString(), `${lines.join("\n")}\n`);
  });

  on("a name may hold what URLs and patterns keep for themselves", async ({ files }) => {
    const names = ["a=1 &b", "a?b#c", "a%2Fb%", "é\u{1f600}+", "[a]*{b}'\"", "a..b"].map((each) => `dt=2026-11-30/${each}.gz`);
    for (const name of names) await files.writeLines(name, [name]);
    for (const name of names) assert.deepEqual(await allLines(files, name), [name]);
    assert.deepEqual((await files.list("dt=2026-11-30")).map(({ name }) => name).sort(), names.sort());
    await files.remove(names[2]!);
    assert.equal(await files.measure(names[2]!), undefined);
    assert.equal((await files.list("")).length, names.length - 1);
  });
}

function wholeOrNot(on: On): void {
  on("a writing that fails leaves what stood there, and nothing that is listed", async ({ files }) => {
    await files.writeLines("day/file.gz", ["before"]);
    async function* failing() {
      yield "after";
      throw new Error("the source is gone");
    }
    for (const name of ["day/file.gz", "day/new.gz"])
      await assert.rejects(
        files.writeLines(name, failing()),
        (error) => error instanceof StoreError && error.message.includes(name) && /source is gone/.test(String(error.cause)),
      );
    assert.deepEqual(await allLines(files, "day/file.gz"), ["before"]);
    assert.deepEqual(
      (await files.list("day")).map(({ name }) => name),
      ["day/file.gz"],
    );
  });

  on("a StoreError of the lines' own comes through as it is", async ({ files }) => {
    const own = new StoreError("the table is gone", { final: true });
    const failing = { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject<IteratorResult<string>>(own) }) };
    await assert.rejects(files.writeLines("day/file.gz", failing), (error) => error === own);
  });

  on("a file is written over with what is read of it meanwhile", async ({ files }) => {
    const given = Array.from({ length: 50_000 }, (_, at) => `line ${at}`);
    await files.writeLines("day/file.gz", given);
    async function* everyOther() {
      let at = 0;
      for await (const lines of files.lines("day/file.gz")) for (const each of lines) if (at++ % 2 === 0) yield each;
    }
    const written = await files.writeLines("day/file.gz", everyOther());
    assert.equal(written.rows, given.length / 2);
    assert.deepEqual(await files.measure("day/file.gz"), written);
    assert.deepEqual((await allLines(files, "day/file.gz")).slice(0, 2), ["line 0", "line 2"]);
  });

  on("who stops reading at the first lines may go on with other things", async ({ files }) => {
    await files.writeLines(
      "day/file.gz",
      Array.from({ length: 60_000 }, (_, at) => `line ${at}`),
    );
    for await (const [first] of files.lines("day/file.gz")) {
      assert.equal(first, "line 0");
      break;
    }
    await files.writeLines("day/file.gz", ["after"]);
    assert.deepEqual(await allLines(files, "day/file.gz"), ["after"]);
  });
}

function foundAndAbsent(on: On): void {
  on("folders are listed with all below them, by name", async ({ files }) => {
    for (const name of ["b/2", "a/x/1", "a/0", "ab/3"]) await files.writeLines(name, ["x"]);
    const listed = async (folder: string) => (await files.list(folder)).map(({ name, bytes }) => `${name} ${bytes}`);
    assert.deepEqual(await listed(""), ["a/0 2", "a/x/1 2", "ab/3 2", "b/2 2"]);
    assert.deepEqual(await listed("a"), ["a/0 2", "a/x/1 2"]);
    assert.deepEqual(await listed("none"), []);
  });

  on("what is not there is empty, absent, or told by its name", async ({ files }) => {
    for (const name of ["none", "none.gz"]) {
      assert.equal(await files.measure(name), undefined);
      assert.equal(await files.digest(name), undefined);
      await files.remove(name);
      await assert.rejects(allLines(files, name), (error) => error instanceof StoreError && error.message.includes(name));
    }
  });
}

function ofOthers(on: On, grow: boolean): void {
  on("a file of several gzip members is read to its end", async ({ files, put }) => {
    const members = ["one\ntw", "", "o\nthree\n", "x".repeat(100_000), "\n"].map((text) => gzipSync(text));
    await put("members.gz", Buffer.concat(members));
    assert.deepEqual(await allLines(files, "members.gz"), ["one", "two", "three", "x".repeat(100_000)]);
    assert.equal((await files.measure("members.gz"))?.rows, 4);
  });

  const cut = gzipSync("one\ntwo\n");
  const damaged: [string, Uint8Array][] = [
    ["cut.gz", cut.subarray(0, 11)],
    ["end.gz", cut.subarray(0, -1)],
    ["text.gz", Buffer.from("no gzip\n")],
    ["behind.gz", Buffer.concat([cut, Buffer.from("behind")])],
  ];
  on("a file that is no whole gzip file is told by its name, and digested all the same", async ({ files, put }) => {
    for (const [name, bytes] of damaged) {
      await put(`bad/${name}`, bytes);
      const told = (error: unknown) => error instanceof StoreError && error.message.includes(`bad/${name}`);
      await assert.rejects(allLines(files, `bad/${name}`), told);
      await assert.rejects(files.measure(`bad/${name}`), told);
      assert.equal((await files.digest(`bad/${name}`))?.bytes, bytes.length);
    }
  });

  on(
    `a last line without its end is ${grow ? "none" : "one"}; bytes that are no text are read and counted`,
    async ({ files, put }) => {
      const last = (text: string) => (grow ? [] : [text]);
      for (const [name, bytes] of [
        ["half.ndjson", Buffer.from("one\ntwo\nthr")],
        ["half.ndjson.gz", gzipSync("one\ntwo\nthr")],
      ] as const) {
        await put(name, bytes);
        assert.deepEqual(await allLines(files, name), ["one", "two", ...last("thr")]);
        assert.equal((await files.measure(name))?.rows, grow ? 2 : 3);
      }
      await put("bytes", Buffer.from([0xff, 0xfe, 10, 0xc3]));
      assert.deepEqual(await allLines(files, "bytes"), ["\ufffd\ufffd", ...last("\ufffd")]);
      assert.deepEqual((await files.measure("bytes"))?.bytes, 4);
    },
  );
}
