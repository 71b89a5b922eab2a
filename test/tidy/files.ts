// Does a file look like ours: its name, its opening sentence, its length, its test, and the limits that it uses?
import { posix } from "node:path";
import { importsOf } from "./import-rules.ts";
import { type Files, isSource, roomOf } from "./rule.ts";
import { readSource } from "./source-text.ts";

/** About 200 is the aim; twice that is more than one question. */
const LINES_MAX = 400;

/** Tables are long. */
const TEST_LINES_MAX = 600;

/** Rooms whose every file has a test of its own path under test/. */
const TESTED = ["core", "transforms"];

const CONFIGURATION = /^(?:README|CONTRIBUTING|LICENSE|AGENTS|Dockerfile)(?:\.md)?$/;

export function misnamed(files: Files): string[] {
  return files.paths.flatMap((path) => {
    const bad = path.split("/").find((name) => !/^\.?[a-z0-9]+(?:[-.][a-z0-9]+)*$/.test(name) && !CONFIGURATION.test(name));
    return bad === undefined ? [] : [`${path}: ${bad} is not kebab-case`];
  });
}

/** A source file's first line is a comment of one sentence; a test's name and cases say it, so tests may leave it out. */
export function unopened(files: Files): string[] {
  return files.paths
    .filter((path) => isSource(path) && !path.endsWith(".test.ts"))
    .filter((path) => {
      const lines = files.read(path).split("\n");
      const first = lines.findIndex((line) => !line.startsWith("#!"));
      const opening = lines.slice(
        first,
        lines.findIndex((line, index) => index >= first && !line.startsWith("//")),
      );
      return !/^\/\/ \S.*[.?:!)]$/.test(opening.join(" ").trim());
    })
    .map((path) => `${path}:1: opens with no comment; say in a sentence which question the file answers`);
}

export function overlong(files: Files): string[] {
  return files.paths.filter(isSource).flatMap((path) => {
    const lines = files.read(path).trimEnd().split("\n").length;
    const most = path.endsWith(".test.ts") ? TEST_LINES_MAX : LINES_MAX;
    return lines <= most ? [] : [`${path}: ${lines} lines, ${most} at most; split it by the questions it answers`];
  });
}

/** Limits that no code outside schemas/limits.ts names: a limit that nothing keeps is a promise that nobody does. */
export function unusedLimits(files: Files, names: readonly string[]): string[] {
  const code = files.paths
    .filter((path) => isSource(path) && path !== "schemas/limits.ts" && roomOf(path) !== "test")
    .map((path) => readSource(files.read(path)).code)
    .join("\n");
  return names
    .filter((name) => !new RegExp(`\\blimits\\s*\\.\\s*${name}\\b`).test(code))
    .map((name) => `schemas/limits.ts: ${name} is used nowhere; keep it or delete it`);
}

/**
 * A file is tested by the test that mirrors its path, or by any test of its room that imports it. Offenders in both directions: an
 * untested file that is not on the list, and one on the list that is gone or tested by now.
 */
export function untested(files: Files, allowed: readonly string[]): string[] {
  const known = new Set(files.paths);
  const imported = new Set(files.paths.filter(isTest).flatMap((path) => targetsOf(path, files.read(path))));
  const missing = files.paths
    .filter((path) => isSource(path) && TESTED.includes(roomOf(path)) && does(files.read(path)))
    .filter((path) => !imported.has(path) && !known.has(mirror(path)));
  return [
    ...missing.filter((path) => !allowed.includes(path)).map((path) => `${path}: has no test; write ${mirror(path)}`),
    ...allowed.filter((path) => !missing.includes(path)).map((path) => `${path}: is tested or gone; take it off the list`),
  ];
}

function mirror(path: string): string {
  return `test/${path.replace(/\.ts$/, ".test.ts")}`;
}

function isTest(path: string): boolean {
  return path.endsWith(".test.ts") && TESTED.some((room) => path.startsWith(`test/${room}/`));
}

function targetsOf(path: string, source: string): string[] {
  return importsOf(source).map(({ specifier }) => posix.join(posix.dirname(path), specifier));
}

/** Whether a file gives more than types. */
function does(source: string): boolean {
  return /\bexport\s+(?:async\s+)?(?:const|let|function|class|default)\b/.test(readSource(source).code);
}
