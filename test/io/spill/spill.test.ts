import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import fc from "fast-check";
import { openFileSpill } from "../../../io/spill/file-spill.ts";
import { memorySpill } from "../../../io/spill/memory-spill.ts";
import { type Run, type Spill, SpillError } from "../../../ports/spill.ts";

function folder(context: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "gleaner-spill-test-"));
  context.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const ADAPTERS: Readonly<Record<string, (context: TestContext) => Spill>> = {
  memory: () => memorySpill(),
  files: (context) => openFileSpill(folder(context), () => undefined),
};

function written(spill: Spill, chunks: readonly Uint8Array[]): Run {
  const writer = spill.begin();
  for (const chunk of chunks) writer.append(chunk);
  return writer.end();
}

function readAll(run: Run, from?: number): { at: number; chunk: string }[] {
  const reader = run.read(from);
  const all: { at: number; chunk: string }[] = [];
  for (let chunk = reader.next(); chunk !== undefined; chunk = reader.next())
    all.push({ at: reader.at, chunk: chunk.toString("hex") });
  reader.close();
  reader.close();
  return all;
}

for (const [name, open] of Object.entries(ADAPTERS))
  suite(`a spill in ${name}`, () => {
    test("gives the chunks of a run back, from the first or from any that was noted, any number of times", (context) => {
      const spill = open(context);
      fc.assert(
        fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 500 }), { maxLength: 12 }), (chunks) => {
          const run = written(spill, chunks);
          const all = readAll(run);
          assert.deepEqual(
            all.map(({ chunk }) => chunk),
            chunks.map((chunk) => Buffer.from(chunk).toString("hex")),
          );
          for (const [index, { at }] of all.entries()) assert.deepEqual(readAll(run, at), all.slice(index));
          assert.equal(
            run.bytes,
            chunks.reduce((sum, chunk) => sum + chunk.length, 0),
          );
          run.remove();
        }),
        { numRuns: 30 },
      );
    });

    test("keeps runs apart, and what is read apart from what was written", (context) => {
      const spill = open(context);
      const chunk = Buffer.from("one");
      const [first, second] = [spill.begin(), spill.begin()];
      first.append(chunk);
      second.append(Buffer.from("two"));
      chunk.fill(0);
      const run = first.end();
      second.abandon();
      run.read().next()!.fill(0);
      assert.deepEqual(readAll(run), [{ at: 0, chunk: Buffer.from("one").toString("hex") }]);
    });

    test("takes nothing more once all is removed", (context) => {
      const spill = open(context);
      written(spill, [Buffer.from("one")]);
      spill.removeAll();
      assert.throws(() => written(spill, [Buffer.from("two")]), SpillError);
      spill.removeAll();
    });
  });

test("memory without room is full, and has room again when runs are removed", () => {
  const spill = memorySpill(10);
  const run = written(spill, [Buffer.alloc(6)]);
  assert.throws(() => written(spill, [Buffer.alloc(6)]), { name: "SpillError", fault: "full" });
  run.remove();
  written(spill, [Buffer.alloc(6)]);
  assert.deepEqual(spill.stats(), { runs: 1, bytes: 6, runsWritten: 2, bytesWritten: 12 });
});

suite("runs on disk", () => {
  test("have a folder of their own, of which nothing stays", (context) => {
    const parent = join(folder(context), "not", "yet");
    const [one, other] = [openFileSpill(parent, () => undefined), openFileSpill(parent, () => undefined)];
    assert.notEqual(one.folder, other.folder);
    const abandoned = one.begin();
    abandoned.append(Buffer.from("x"));
    abandoned.abandon();
    assert.deepEqual(readdirSync(one.folder), []);
    written(one, [Buffer.from("x")]);
    written(one, [Buffer.from("y")]).remove();
    assert.equal(readdirSync(one.folder).length, 1);
    one.removeAll();
    assert.deepEqual(readdirSync(parent), [other.folder.slice(parent.length + 1)]);
  });

  test("of a process that is no more are removed, and those of others are not", (context) => {
    const parent = folder(context);
    const { pid } = spawnSync(process.execPath, ["--version"]);
    for (const name of [`spill-${pid}-abcdef`, `spill-${process.pid}-abcdef`, "spill-of-mine", "pages"])
      mkdirSync(join(parent, name));
    openFileSpill(parent, () => undefined).removeAll();
    assert.deepEqual(readdirSync(parent).sort(), ["pages", `spill-${process.pid}-abcdef`, "spill-of-mine"].sort());
  });

  const damages: [what: string, harm: (path: string) => void][] = [
    ["a changed byte", (path) => writeFileSync(path, readFileSync(path).fill(0x21, 20, 21))],
    ["a changed length", (path) => writeFileSync(path, readFileSync(path).fill(0xff, 0, 4))],
    ["a lost end", (path) => truncateSync(path, 30)],
    ["a longer end", (path) => writeFileSync(path, "more", { flag: "a" })],
    ["nothing in it", (path) => truncateSync(path, 0)],
  ];
  for (const [what, harm] of damages)
    test(`with ${what} are damaged, and the error names the file`, (context) => {
      const spill = openFileSpill(folder(context), () => undefined);
      const run = written(spill, [Buffer.from("a chunk of some length"), Buffer.from("another chunk")]);
      const [name = ""] = readdirSync(spill.folder);
      harm(join(spill.folder, name));
      const damaged = (error: SpillError) => error.fault === "damaged" && error.message.startsWith(join(spill.folder, name));
      assert.throws(() => readAll(run), damaged);
    });

  test("that are gone are a failure that names the folder", (context) => {
    const spill = openFileSpill(folder(context), () => undefined);
    const run = written(spill, [Buffer.from("one")]);
    rmSync(spill.folder, { recursive: true });
    const failed = (error: SpillError) => error.fault === "failed" && error.message.startsWith(spill.folder);
    assert.throws(() => readAll(run), failed);
    assert.throws(() => spill.begin(), failed);
  });

  test("on a full disk say so", { skip: !existsSync("/dev/full") && "there is no /dev/full here" }, (context) => {
    const spill = openFileSpill(folder(context), () => undefined);
    symlinkSync("/dev/full", join(spill.folder, "run-0")); // where every write fails for want of room
    const full = (error: SpillError) => error.fault === "full" && error.message.startsWith(spill.folder);
    assert.throws(() => spill.begin().append(Buffer.from("one")), full);
  });
});
