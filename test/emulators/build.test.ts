import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { built } from "./build.ts";
import { locate, type Source } from "./locate.ts";

/** Stands in for Go: what it "builds" is the number of its process. */
const GOOD_GO = `for last; do :; done; [ "$1" = install ] && out="$GOBIN/program" || out="$4"program
mkdir -p "$(dirname "$out")" && sleep 0.1 && echo $$ > "$out"`;

const BAD_GO = `echo "no network" >&2; exit 7`;

test("a program is built into the cache, alone, and the source then has nothing to build", async (context) => {
  for (const name of ["storage", "pubsub"] as const) {
    const { source, cache } = sourceWith(context, GOOD_GO, name);
    const told: string[] = [];
    const after = await built(source, (line) => told.push(line));
    assert.deepEqual([after.build, after.program], [undefined, source.program]);
    assert.match(readFileSync(after.program, "utf8"), /^\d+\n$/);
    assert.deepEqual(readdirSync(cache), [source.program.slice(cache.length + 1)]);
    assert.match(told[0] ?? "", /^building Go's .*once/);
    assert.equal(await built(after), after);
  }
});

test("of two builds at once one waits for the other", async (context) => {
  const { source, cache, runs } = sourceWith(context, GOOD_GO, "storage");
  const told: string[] = [];
  const both = await Promise.all([built(source), built(source, (line) => told.push(line))]);
  assert.deepEqual(both[0], both[1]);
  assert.match(told.join(), /^waiting for Go's .*another process builds$/);
  assert.match(readFileSync(source.program, "utf8"), /^\d+\n$/);
  assert.deepEqual([readdirSync(cache).length, runs()], [1, 1]);
});

test("one that waits builds when the other has failed", async (context) => {
  const { source, cache, runs } = sourceWith(context, `sleep 0.3; ${BAD_GO}`, "storage");
  const both = await Promise.allSettled([built(source), built(source)]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.deepEqual([readdirSync(cache).length, runs()], [0, 2]);
});

test("what a build left that was killed with its guard is not waited for", async (context) => {
  const { source, cache, runs } = sourceWith(context, GOOD_GO, "storage");
  mkdirSync(`${source.program}.building/bin`, { recursive: true });
  utimesSync(`${source.program}.building`, 0, 0);
  await built(source);
  assert.deepEqual([readdirSync(cache).length, runs()], [1, 1]);
});

test("a failed build throws with Go's last words, and leaves nothing", async (context) => {
  const { source, cache } = sourceWith(context, BAD_GO, "storage");
  await assert.rejects(built(source), /cannot build Go's .*fake-gcs-server.*: exit code 7: no network/);
  assert.deepEqual(readdirSync(cache), []);
});

function sourceWith(context: TestContext, go: string, name: "pubsub" | "storage") {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-build-"));
  context.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/go"), `#!/bin/sh\necho >> ${folder}/runs\n${go}\n`, { mode: 0o755 });
  const cache = join(folder, "cache");
  const located = locate(name, { path: [join(folder, "bin")], sdkRoots: [], cache });
  assert.equal(located.kind, "found");
  const runs = () => readFileSync(join(folder, "runs"), "utf8").length;
  return { source: (located as { source: Source }).source, cache, runs };
}
