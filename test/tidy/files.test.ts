import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "../../schemas/limits.ts";
import { misnamed, overlong, unopened, untested, unusedLimits } from "./files.ts";
import { givenFiles, projectFiles } from "./rule.ts";

/** Files of core/ and transforms/ that have no test of their own. May only shrink. */
const UNTESTED: readonly string[] = [];

/** Limits that no code keeps yet. May only shrink. */
const UNUSED_LIMITS: readonly string[] = [];

test("every file is named in kebab-case", () => {
  assert.deepEqual(misnamed(projectFiles()), []);
});

test("every source file opens with a sentence", () => {
  assert.deepEqual(unopened(projectFiles()), []);
});

test("no source file is overlong", () => {
  assert.deepEqual(overlong(projectFiles()), []);
});

test("every limit is used", () => {
  const unused = unusedLimits(projectFiles(), Object.keys(limits));
  assert.deepEqual(
    unused.filter((line) => !UNUSED_LIMITS.some((name) => line.includes(` ${name} `))),
    [],
  );
  assert.equal(unused.length, UNUSED_LIMITS.length, "a limit on the list is used by now: take it off");
});

test("every file of core/ and transforms/ has a test of its own", () => {
  assert.deepEqual(untested(projectFiles(), UNTESTED), []);
});

test("a misnamed file or folder is found", () => {
  const names = {
    "core/hostClock.ts": "",
    "Core/a.ts": "",
    "core/a_b.ts": "",
    "core/a-b.test.ts": "",
    ".ci/run": "",
    "README.md": "",
  };
  assert.deepEqual(
    misnamed(givenFiles(names)).map((line) => line.split(":")[0]),
    ["core/hostClock.ts", "Core/a.ts", "core/a_b.ts"],
  );
});

const openings: [source: string, opens: boolean][] = [
  ["// When may a request start?\nexport {};", true],
  ["#!/usr/bin/env node\n// What runs first?\nexport {};", true],
  ["// A sentence that goes on\n// over two lines.\nexport {};", true],
  ["import {} from './a.ts';", false],
  ["// no sentence\nexport {};", false],
  ["", false],
];
for (const [source, opens] of openings)
  test(`the opening of ${JSON.stringify(source)} is ${opens ? "taken" : "found"}`, () => {
    assert.equal(unopened(givenFiles({ "core/a.ts": source })).length, opens ? 0 : 1);
  });

const lengths: [path: string, lines: number, offenders: number][] = [
  ["core/a.ts", 400, 0],
  ["core/a.ts", 401, 1],
  ["test/core/a.test.ts", 600, 0],
  ["test/core/a.test.ts", 601, 1],
  ["docs/a.md", 1000, 0],
];
for (const [path, lines, offenders] of lengths)
  test(`${path} of ${lines} lines is ${offenders === 0 ? "taken" : "found"}`, () => {
    assert.equal(overlong(givenFiles({ [path]: "a;\n".repeat(lines) })).length, offenders);
  });

test("a limit that only its own file, a test or a comment names is found", () => {
  const files = givenFiles({
    "schemas/limits.ts": "limits.a limits.b",
    "test/a.test.ts": "limits.a",
    "core/a.ts": "// limits.a\nf(limits.b); limits.ab;",
  });
  assert.deepEqual(unusedLimits(files, ["a", "b"]), ["schemas/limits.ts: a is used nowhere; keep it or delete it"]);
});

test("a file without a test is found, and so is one that is on the list for nothing", () => {
  const files = givenFiles({
    "core/a.ts": "export const a = 1;",
    "test/core/a.test.ts": "",
    "core/b.ts": "export function b() {}",
    "core/helper.ts": "export const helper = 1;",
    "test/core/others.test.ts": 'import { helper } from "../../core/helper.ts";',
    "test/io/d.test.ts": 'import { b } from "../../core/b.ts";',
    "core/only-types.ts": "export interface T {}\nexport type U = T;",
    "transforms/c.ts": "export const c = 1;",
    "io/d.ts": "export const d = 1;",
  });
  assert.deepEqual(
    untested(files, ["transforms/c.ts", "core/a.ts"]).map((line) => line.split(";")[0]),
    ["core/b.ts: has no test", "core/a.ts: is tested or gone"],
  );
});
