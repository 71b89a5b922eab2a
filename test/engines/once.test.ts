import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Making, once } from "./once.ts";

function making(context: TestContext, script: string, tell?: (line: string) => void): Making {
  const folder = mkdtempSync(join(tmpdir(), "gleaner-once-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const args = (result: string) => ["-c", script, "sh", result, join(folder, "runs")];
  return { path: join(folder, "cache/thing"), told: "a thing", program: "/bin/sh", args, ...(tell && { tell }) };
}

const GOOD = 'echo run >> "$2"; sleep 0.1; echo made > "$1"';

test("what is made stands in the cache, and the folder of the work is gone", async (context) => {
  const told: string[] = [];
  const given = making(context, GOOD, (line) => told.push(line));
  await once(given);
  assert.equal(readFileSync(given.path, "utf8"), "made\n");
  assert.equal(existsSync(`${given.path}.making`), false);
  assert.match(told[0] ?? "", /^making a thing \(once/);
});

test("several who ask at once have it made once", async (context) => {
  const given = making(context, GOOD);
  await Promise.all([once(given), once(given), once(given)]);
  await once(given);
  assert.equal(readFileSync(join(given.path, "../../runs"), "utf8"), "run\n");
});

test("what fails leaves nothing, says its last words, and is tried again by the next", async (context) => {
  const given = making(context, 'echo "no network" >&2; exit 7');
  await assert.rejects(once(given), /^Error: cannot make a thing: exit code 7: no network$/);
  assert.equal(existsSync(`${given.path}.making`), false);
  await once({ ...given, args: (result) => ["-c", 'echo made > "$0"', result] });
  assert.equal(existsSync(given.path), true);
});

test("a program that leaves nothing has failed", async (context) => {
  await assert.rejects(once(making(context, "true")), /cannot make a thing: exit code 0/);
});

test("what a process began that is dead for long is begun anew", async (context) => {
  const given = making(context, GOOD);
  const left = `${given.path}.making`;
  mkdirSync(left, { recursive: true });
  const longAgo = new Date(Date.now() - 10 * 60_000);
  utimesSync(left, longAgo, longAgo);
  await once(given);
  assert.equal(existsSync(given.path), true);
});
