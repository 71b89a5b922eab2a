// How does a test measure itself against the public yardsticks beside the project? Skips, with the reason, where they are not there.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";

const FOLDER = join(import.meta.dirname, "../../../../shared/data");

/** The bytes of a file of ../shared/data, or undefined (and the test skipped) where it is absent. */
export function sharedBytes(t: TestContext, file: string): Buffer | undefined {
  const path = join(FOLDER, file);
  if (existsSync(path)) return readFileSync(path);
  t.skip(`${path} is not there`);
  return undefined;
}

/** The cases of a JSON file, none where it is absent. */
export function sharedCases<T>(t: TestContext, file: string): T[] {
  const bytes = sharedBytes(t, file);
  return bytes === undefined ? [] : JSON.parse(bytes.toString());
}

/** Prints passed/total and asserts that all cases pass but those named in `known`, each with its reason. */
export function tally<T>(
  t: TestContext,
  cases: T[],
  passes: (one: T) => boolean,
  known: Record<string, string> = {},
  nameOf?: (one: T) => string,
) {
  const name = nameOf ?? ((one: T) => JSON.stringify(one));
  const failed = cases.filter((one) => !passes(one)).map(name);
  if (cases.length > 0) t.diagnostic(`${t.name}: ${cases.length - failed.length}/${cases.length}`);
  assert.deepEqual([...new Set(failed)].sort(), cases.length > 0 ? Object.keys(known).sort() : []);
}
